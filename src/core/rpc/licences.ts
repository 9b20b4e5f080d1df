/** What the installation is made of: this application, each environment, and every npm package it runs on. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { RpcServices } from '#core/rpc/base.ts';
import { projectFolder } from '#core/rpc/project-folder.ts';

interface Licence {
  name: string;
  version: string;
  licence: string;
  kind: string;
}

const packageSchema = z.object({
  name: z.string(),
  version: z.string().default(''),
  license: z.union([z.string(), z.object({ type: z.string() })]).optional(),
  dependencies: z.record(z.string(), z.string()).default({}),
});

function readPackage(file: string): z.infer<typeof packageSchema> | null {
  try {
    return packageSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

function licenceText(licence: z.infer<typeof packageSchema>['license']): string {
  return typeof licence === 'string' ? licence : (licence?.type ?? 'see the package');
}

/** Installed copies below one node_modules, scopes included; nested copies of other versions are left out. */
function installed(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.')) return [];
    if (!entry.name.startsWith('@')) return [join(folder, entry.name)];
    return readdirSync(join(folder, entry.name)).map((name) => join(folder, entry.name, name));
  });
}

/** Names reachable from the application's run-time dependencies: development tools are not shipped and not listed. */
function shipped(project: string): Licence[] {
  const modules = join(project, 'node_modules');
  const packages = new Map(
    installed(modules).flatMap((folder) => {
      const found = readPackage(join(folder, 'package.json'));
      return found === null ? [] : [[found.name, found] as const];
    }),
  );
  const reached = new Set<string>();
  const queue = Object.keys(readPackage(join(project, 'package.json'))?.dependencies ?? {});
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const found = packages.get(name);
    if (found === undefined || reached.has(name)) continue;
    reached.add(name);
    queue.push(...Object.keys(found.dependencies));
  }
  return [...reached].toSorted().map((name) => {
    const found = packages.get(name);
    return { name, version: found?.version ?? '', licence: licenceText(found?.license), kind: 'package' };
  });
}

export function licences(app: RpcServices): Licence[] {
  const environments = app.environments.list().map((provider) => {
    const { title, version, licence } = provider.describe();
    return { name: title, version, licence, kind: 'environment' };
  });
  const project = projectFolder();
  return [
    { name: 'Daydream', version: app.version, licence: 'Apache-2.0', kind: 'application' },
    ...environments,
    ...(project === null ? [] : shipped(project)),
  ];
}

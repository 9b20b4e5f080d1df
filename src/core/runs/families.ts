/** Environment id → family. A user's folder may have any id, so only the registry knows. */
import type { FamilyOf } from '#core/early-experience/index.ts';
import type { EnvironmentRegistry } from '#core/environments/port.ts';

/** An unknown id stands for itself: the run is refused because of it anyway. */
export function familiesOf(environments: EnvironmentRegistry): FamilyOf {
  const families = new Map<string, string>();
  for (const provider of environments.list()) {
    const { id, family } = provider.describe();
    families.set(id, family);
  }
  return (environmentId) => families.get(environmentId) ?? environmentId;
}

/**
 * ggml as node-llama-cpp ships it, called through koffi. Nobody promises these libraries as an API: the version is pinned,
 * every symbol that is used stands in `functions`, and the self-test runs before the first real call.
 */
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import koffi from 'koffi';
import { AppError } from '#shared/errors.ts';
import { sentence } from '#shared/sentence.ts';

/** An opaque C pointer (koffi gives addresses as bigint). */
export type Pointer = bigint & { readonly __pointer: unique symbol };

const tensor = 'void*';
const context = 'void*';

/** Name → result and arguments, as in ggml.h, ggml-alloc.h and ggml-backend.h of the pinned version. */
const functions = {
  ggml_free: ['void', [context]],
  ggml_tensor_overhead: ['size_t', []],
  ggml_graph_overhead_custom: ['size_t', ['size_t', 'bool']],
  ggml_new_tensor_4d: [tensor, [context, 'int', 'int64_t', 'int64_t', 'int64_t', 'int64_t']],
  ggml_set_input: ['void', [tensor]],
  ggml_set_output: ['void', [tensor]],
  ggml_set_param: ['void', [tensor]],
  ggml_view_4d: [
    tensor,
    [context, tensor, 'int64_t', 'int64_t', 'int64_t', 'int64_t', 'size_t', 'size_t', 'size_t', 'size_t'],
  ],
  ggml_reshape_4d: [tensor, [context, tensor, 'int64_t', 'int64_t', 'int64_t', 'int64_t']],
  ggml_permute: [tensor, [context, tensor, 'int', 'int', 'int', 'int']],
  ggml_cont: [tensor, [context, tensor]],
  ggml_set: [tensor, [context, tensor, tensor, 'size_t', 'size_t', 'size_t', 'size_t']],
  ggml_set_inplace: [tensor, [context, tensor, tensor, 'size_t', 'size_t', 'size_t', 'size_t']],
  ggml_cpy: [tensor, [context, tensor, tensor]],
  ggml_add: [tensor, [context, tensor, tensor]],
  ggml_add_inplace: [tensor, [context, tensor, tensor]],
  ggml_sub: [tensor, [context, tensor, tensor]],
  ggml_mul: [tensor, [context, tensor, tensor]],
  ggml_div: [tensor, [context, tensor, tensor]],
  ggml_sqr: [tensor, [context, tensor]],
  ggml_sqrt: [tensor, [context, tensor]],
  ggml_log: [tensor, [context, tensor]],
  ggml_tanh: [tensor, [context, tensor]],
  ggml_sum: [tensor, [context, tensor]],
  ggml_sum_rows: [tensor, [context, tensor]],
  ggml_clamp: [tensor, [context, tensor, 'float', 'float']],
  ggml_scale: [tensor, [context, tensor, 'float']],
  ggml_scale_bias: [tensor, [context, tensor, 'float', 'float']],
  ggml_cast: [tensor, [context, tensor, 'int']],
  ggml_repeat_4d: [tensor, [context, tensor, 'int64_t', 'int64_t', 'int64_t', 'int64_t']],
  ggml_arange: [tensor, [context, 'float', 'float', 'float']],
  ggml_step: [tensor, [context, tensor]],
  ggml_op_desc: ['str', [tensor]],
  ggml_repeat_back: [tensor, [context, tensor, tensor]],
  ggml_mul_mat: [tensor, [context, tensor, tensor]],
  ggml_mul_mat_set_prec: ['void', [tensor, 'int']],
  ggml_out_prod: [tensor, [context, tensor, tensor]],
  ggml_silu: [tensor, [context, tensor]],
  ggml_silu_back: [tensor, [context, tensor, tensor]],
  ggml_swiglu_split: [tensor, [context, tensor, tensor]],
  ggml_rms_norm: [tensor, [context, tensor, 'float']],
  ggml_rms_norm_back: [tensor, [context, tensor, tensor, 'float']],
  ggml_soft_max_ext: [tensor, [context, tensor, tensor, 'float', 'float']],
  ggml_soft_max_ext_back: [tensor, [context, tensor, tensor, 'float', 'float']],
  ggml_rope_ext: [
    tensor,
    [
      context,
      tensor,
      tensor,
      tensor,
      'int',
      'int',
      'int',
      'float',
      'float',
      'float',
      'float',
      'float',
      'float',
    ],
  ],
  ggml_get_rows: [tensor, [context, tensor, tensor]],
  ggml_get_rows_back: [tensor, [context, tensor, tensor, tensor]],
  ggml_set_rows: [tensor, [context, tensor, tensor, tensor]],
  ggml_opt_step_adamw: [tensor, [context, tensor, tensor, tensor, tensor, tensor]],
  ggml_new_graph_custom: ['void*', [context, 'size_t', 'bool']],
  ggml_build_forward_expand: ['void', ['void*', tensor]],
  ggml_graph_n_nodes: ['int', ['void*']],
  ggml_graph_node: [tensor, ['void*', 'int']],
  ggml_graph_add_node: ['void', ['void*', tensor]],
  ggml_gallocr_new: ['void*', ['void*']],
  ggml_gallocr_free: ['void', ['void*']],
  ggml_gallocr_alloc_graph: ['bool', ['void*', 'void*']],
  ggml_gallocr_get_buffer_size: ['size_t', ['void*', 'int']],
  ggml_backend_alloc_ctx_tensors: ['void*', [context, 'void*']],
  ggml_backend_buffer_free: ['void', ['void*']],
  ggml_backend_buffer_clear: ['void', ['void*', 'uint8_t']],
  ggml_backend_buffer_get_size: ['size_t', ['void*']],
  ggml_backend_tensor_set: ['void', [tensor, 'const void*', 'size_t', 'size_t']],
  ggml_backend_tensor_get: ['void', [tensor, 'void*', 'size_t', 'size_t']],
  ggml_backend_get_default_buffer_type: ['void*', ['void*']],
  ggml_backend_supports_op: ['bool', ['void*', tensor]],
  ggml_backend_graph_compute: ['int', ['void*', 'void*']],
  ggml_backend_free: ['void', ['void*']],
  ggml_backend_load_all_from_path: ['void', ['str']],
  ggml_backend_dev_count: ['size_t', []],
  ggml_backend_dev_get: ['void*', ['size_t']],
  ggml_backend_dev_description: ['str', ['void*']],
  ggml_backend_dev_type: ['int', ['void*']],
  ggml_backend_dev_init: ['void*', ['void*', 'str']],
  ggml_backend_dev_backend_reg: ['void*', ['void*']],
  ggml_backend_reg_get_proc_address: ['void*', ['void*', 'str']],
} as const satisfies Record<string, readonly [string, readonly string[]]>;

type FunctionName = keyof typeof functions;
type Bound = ReturnType<ReturnType<typeof koffi.load>['func']>;
type Foreign = (...values: readonly unknown[]) => unknown;

export interface GgmlLibrary {
  readonly directory: string;
  call(name: FunctionName, ...values: readonly unknown[]): unknown;
  /** For what takes long: runs on a worker thread of the process, so that messages and aborts are heard meanwhile. */
  callAsync(name: FunctionName, ...values: readonly unknown[]): Promise<unknown>;
  pointer(name: FunctionName, ...values: readonly unknown[]): Pointer;
  number(name: FunctionName, ...values: readonly unknown[]): number;
  /** A context for `bytes` of tensor and graph descriptions (no data). */
  newContext(bytes: number): Pointer;
  /** Calls a function that a back-end offers by name: `void (*)(backend, int)`. */
  setThreads(backend: Pointer, device: Pointer, threads: number): void;
}

/**
 * The folder of shared libraries of the platform package of node-llama-cpp.
 * @param flavour `cpu` takes the plain package, else the package of that back-end when it is installed.
 * @throws TRAINER_UNAVAILABLE when no package of this platform is installed.
 */
export function libraryFolder(flavour: 'cpu' | 'cuda' | 'vulkan'): string {
  const require = createRequire(createRequire(import.meta.url).resolve('node-llama-cpp'));
  const system =
    { linux: 'linux', darwin: 'mac', win32: 'win' }[process.platform as string] ?? process.platform;
  const plain = `${system}-${process.arch}`;
  const names =
    system === 'mac'
      ? [process.arch === 'arm64' ? 'mac-arm64-metal' : 'mac-x64']
      : flavour === 'cpu'
        ? [plain]
        : [`${plain}-${flavour}`];
  for (const name of names) {
    for (const root of require.resolve.paths('node-llama-cpp') ?? []) {
      const folder = join(root, '@node-llama-cpp', name, 'bins', name);
      if (existsSync(folder)) return folder;
    }
  }
  throw unavailable(`No package @node-llama-cpp/${names.join(' or ')} is installed.`);
}

/** @throws TRAINER_UNAVAILABLE when a library or one of its symbols is missing. */
export function openLibrary(directory: string): GgmlLibrary {
  const files = readdirSync(directory);
  const base = find(files, /^(lib)?ggml-base\b.*\.(so|dylib|dll)$/);
  const main = find(files, /^(lib)?ggml\.?(cuda|vulkan|metal)?(\.v[\d.]+)?\.(so|dylib|dll)$/);
  if (base === null || main === null) {
    throw unavailable(
      `${directory} has no ggml libraries (found: ${files.map((file) => basename(file)).join(', ')}).`,
    );
  }
  const bound = new Map<FunctionName, Bound>();
  let libraries: ReturnType<typeof koffi.load>[];
  try {
    libraries = [
      koffi.load(join(directory, base), { global: true }),
      koffi.load(join(directory, main), { global: true }),
    ];
  } catch (error) {
    throw unavailable(`The libraries in ${directory} cannot be loaded: ${String(error)}`, error);
  }
  const initParams = koffi.struct({ mem_size: 'size_t', mem_buffer: 'void*', no_alloc: 'bool' });
  const bind = (
    name: string,
    result: string,
    values: readonly (string | ReturnType<typeof koffi.struct>)[],
  ): Bound => {
    for (const library of libraries) {
      try {
        return library.func(name, result, [...values]);
      } catch {
        // In the other library, or in none: then the error below names it.
      }
    }
    throw unavailable(`${directory} has no function ${name}: this build of ggml is not the pinned one.`);
  };
  for (const [name, [result, values]] of Object.entries(functions)) {
    bound.set(name as FunctionName, bind(name, result, values));
  }
  const init = bind('ggml_init', 'void*', [initParams]);
  const get = (name: FunctionName): Bound => {
    const found = bound.get(name);
    if (found === undefined) throw unavailable(`${name} is not bound.`);
    return found;
  };
  const call = (name: FunctionName, ...values: readonly unknown[]): unknown =>
    (get(name) as Foreign)(...values);
  const setThreadsType = koffi.proto('void', ['void*', 'int']);
  return {
    directory,
    call,
    callAsync: (name, ...values) =>
      new Promise((resolve, reject) => {
        get(name).async(...values, (error: Error | null, result: unknown) => {
          if (error === null) resolve(result);
          else reject(error);
        });
      }),
    pointer: (name, ...values) => {
      const result = call(name, ...values);
      if (result === null || result === 0n) throw unavailable(`${name} gave nothing: out of memory?`);
      return result as Pointer;
    },
    number: (name, ...values) => Number(call(name, ...values)),
    newContext: (bytes) =>
      (init as Foreign)({ mem_size: bytes, mem_buffer: null, no_alloc: true }) as Pointer,
    setThreads: (backend, device, threads) => {
      const registry = call('ggml_backend_dev_backend_reg', device);
      const address = call('ggml_backend_reg_get_proc_address', registry, 'ggml_backend_set_n_threads');
      if (address === null || address === 0n) return;
      (koffi.call as Foreign)(address, setThreadsType, backend, threads);
    },
  };
}

function find(files: readonly string[], pattern: RegExp): string | null {
  return files.find((file) => pattern.test(file)) ?? null;
}

function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError({
    code: 'TRAINER_UNAVAILABLE',
    message:
      `Training is not available here. ${sentence(reason)} Inference is not concerned. ` +
      'Reinstall with npm ci, or train the exported data set with the launch folder of another framework.',
    ...(cause === undefined ? {} : { cause }),
  });
}

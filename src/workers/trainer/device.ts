/** One back-end of ggml: memory, transfers and computation. */
import { AppError } from '#shared/errors.ts';
import type { Graph, Tensor } from './graph.ts';
import type { GgmlLibrary, Pointer } from './library.ts';

const deviceKinds = ['cpu', 'gpu', 'igpu', 'accelerator'] as const;

interface DeviceInfo {
  description: string;
  kind: (typeof deviceKinds)[number];
}

export class Device {
  readonly library: GgmlLibrary;
  readonly backend: Pointer;
  readonly info: DeviceInfo;
  /** Operations of the way back are composed even where there are direct ones: what Metal computes, on any back-end. */
  readonly composed: boolean;
  readonly #device: Pointer;
  readonly #buffers = new Set<Pointer>();

  private constructor(library: GgmlLibrary, device: Pointer, backend: Pointer, composed: boolean) {
    this.composed = composed;
    this.library = library;
    this.#device = device;
    this.backend = backend;
    this.info = describe(library, device);
  }

  /**
   * @param threads computing threads; more than there are cores makes ggml's barriers spin 10–90 times slower
   * @throws TRAINER_UNAVAILABLE when there is no device of that kind
   */
  static open(
    library: GgmlLibrary,
    kind: 'cpu' | 'gpu',
    threads: number,
    options: { composed?: boolean } = {},
  ): Device {
    const device = pointers(library).find((pointer) => {
      const found = describe(library, pointer).kind;
      return kind === 'cpu' ? found === 'cpu' : found === 'gpu' || found === 'igpu';
    });
    if (device === undefined) {
      throw new AppError({
        code: 'TRAINER_UNAVAILABLE',
        message: `ggml finds no ${kind.toUpperCase()} here. Choose another device for training.`,
      });
    }
    const backend = library.pointer('ggml_backend_dev_init', device, null);
    library.setThreads(backend, device, threads);
    return new Device(library, device, backend, options.composed ?? false);
  }

  /** Gives memory to every constant and input of the graph's context that has none yet. */
  allocate(graph: Graph): Pointer {
    const buffer = this.library.call(
      'ggml_backend_alloc_ctx_tensors',
      graph.context,
      this.backend,
    ) as Pointer | null;
    if (buffer === null || buffer === 0n) throw outOfMemory(this.info);
    this.#buffers.add(buffer);
    return buffer;
  }

  bytesOf(buffer: Pointer): number {
    return this.library.number('ggml_backend_buffer_get_size', buffer);
  }

  zero(buffer: Pointer): void {
    this.library.call('ggml_backend_buffer_clear', buffer, 0);
  }

  free(buffer: Pointer): void {
    if (this.#buffers.delete(buffer)) this.library.call('ggml_backend_buffer_free', buffer);
  }

  newAllocator(): Pointer {
    return this.library.pointer(
      'ggml_gallocr_new',
      this.library.pointer('ggml_backend_get_default_buffer_type', this.backend),
    );
  }

  /** Whether the back-end has the operation that makes this tensor. */
  supports(tensor: Pointer): boolean {
    return this.library.call('ggml_backend_supports_op', this.backend, tensor) === true;
  }

  /**
   * Gives memory to all results of the graph, as little as their lifetimes permit. Returns the bytes in use.
   * @throws TRAINER_UNAVAILABLE naming the operations that the back-end lacks (it would end the process), MODEL_OUT_OF_MEMORY
   */
  place(allocator: Pointer, graph: Pointer): number {
    const nodes = Array.from({ length: this.library.number('ggml_graph_n_nodes', graph) }, (_, index) =>
      this.library.pointer('ggml_graph_node', graph, index),
    );
    const lacking = new Set(
      nodes
        .filter((node) => !this.supports(node))
        .map((node) => String(this.library.call('ggml_op_desc', node))),
    );
    if (lacking.size > 0) {
      throw new AppError({
        code: 'TRAINER_UNAVAILABLE',
        message: `${this.info.description} cannot train this model: its driver lacks ${[...lacking].join(', ')}. Nothing was changed. Train on the processor, or update the driver.`,
      });
    }
    if (this.library.call('ggml_gallocr_alloc_graph', allocator, graph) !== true)
      throw outOfMemory(this.info);
    return this.library.number('ggml_gallocr_get_buffer_size', allocator, 0);
  }

  freeAllocator(allocator: Pointer): void {
    this.library.call('ggml_gallocr_free', allocator);
  }

  write(tensor: Tensor, data: ArrayBufferView, offset = 0): void {
    this.library.call('ggml_backend_tensor_set', tensor.pointer, data, offset, data.byteLength);
  }

  /** Reads `length` float32 values from element `offset` on. */
  read(tensor: Tensor, length: number, offset = 0): Float32Array {
    const values = new Float32Array(length);
    this.library.call('ggml_backend_tensor_get', tensor.pointer, values, offset * 4, length * 4);
    return values;
  }

  async compute(graph: Pointer): Promise<void> {
    const status = await this.library.callAsync('ggml_backend_graph_compute', this.backend, graph);
    if (status !== 0) {
      throw new AppError({
        code: 'TRAINER_CRASHED',
        message: `${this.info.description} could not compute the step (ggml status ${String(status)}). The last checkpoint is kept.`,
      });
    }
  }

  dispose(): void {
    for (const buffer of this.#buffers) this.library.call('ggml_backend_buffer_free', buffer);
    this.#buffers.clear();
    this.library.call('ggml_backend_free', this.backend);
  }
}

function pointers(library: GgmlLibrary): Pointer[] {
  if (library.number('ggml_backend_dev_count') === 0) {
    library.call('ggml_backend_load_all_from_path', library.directory);
  }
  return Array.from({ length: library.number('ggml_backend_dev_count') }, (_, index) =>
    library.pointer('ggml_backend_dev_get', index),
  );
}

function describe(library: GgmlLibrary, device: Pointer): DeviceInfo {
  return {
    description: String(library.call('ggml_backend_dev_description', device)),
    kind: deviceKinds[library.number('ggml_backend_dev_type', device)] ?? 'accelerator',
  };
}

function outOfMemory(info: DeviceInfo): AppError {
  return new AppError({
    code: 'MODEL_OUT_OF_MEMORY',
    message: `${info.description} has not enough memory for this training. Use shorter blocks, a smaller rank or a smaller batch.`,
  });
}

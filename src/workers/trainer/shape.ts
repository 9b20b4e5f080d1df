/** Shapes in ggml's order: the fastest dimension first, always four of them. */
export type Shape = readonly [number, number, number, number];
export type Dimensions = readonly [number, number?, number?, number?];

export function elements(shape: Shape): number {
  return shape[0] * shape[1] * shape[2] * shape[3];
}

export function full(dimensions: Dimensions): Shape {
  return [dimensions[0], dimensions[1] ?? 1, dimensions[2] ?? 1, dimensions[3] ?? 1];
}

export function equal(a: Shape, b: Shape): boolean {
  return a.every((size, index) => size === b[index]);
}

export function repeats(small: Shape, large: Shape): boolean {
  return small.every((size, index) => (large[index] ?? 0) % size === 0);
}

export function need(holds: boolean, operation: string, a: Shape, b: Shape): void {
  if (!holds)
    throw new RangeError(`${operation}: shapes [${a.join(', ')}] and [${b.join(', ')}] do not go together`);
}

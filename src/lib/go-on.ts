/** Goes on with a value at once if it is no promise: to await one costs more than most steps of a request. */
export const goOn = <T, R>(
  value: T | Promise<T>,
  step: (value: T) => R | Promise<R>,
): R | Promise<R> => (value instanceof Promise ? value.then(step) : step(value))

/** How often others get their turns of the event loop while something is done. */
export async function turnsDuring(work: () => Promise<void>): Promise<number> {
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  await work()
  isDone = true
  return turns
}

import { ApiError } from '../api/errors.ts'
import type { KubeObject } from '../api/object.ts'
import type { Belongings, Taken, Taking } from '../registry/belongings.ts'
import { StorageError } from '../storage/errors.ts'

/** Gives the object with what it needs; the next call begins by giving back what the one before took. */
export type Take = (taking: Taking) => Promise<KubeObject>

/** Runs a write that takes belongings: what it took last stays with the object if the write succeeds, all else goes back. */
export async function holding<T>(belongings: Belongings | undefined, run: (take: Take) => Promise<T>): Promise<T> {
  if (belongings === undefined) return run((taking) => Promise.resolve(taking.object))
  const held: { taken: Taken | undefined } = { taken: undefined }
  const undo = async (): Promise<void> => {
    const { taken } = held
    held.taken = undefined
    await taken?.undo()
  }
  try {
    const result = await run(async (taking) => {
      await undo()
      held.taken = await belongings.take(taking)
      return held.taken.object
    })
    await held.taken?.keep()
    return result
  } catch (error) {
    if (!mayBeDone(error)) await undo()
    throw error
  }
}

/** Then what was taken must stay: a repair finds out what nobody has. */
function mayBeDone(error: unknown): boolean {
  const cause = error instanceof ApiError ? error.cause : error
  return cause instanceof StorageError && cause.ambiguous
}

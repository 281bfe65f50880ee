/**
 * Limits the memory used by the selectors of open watches. A selector can be as long as the headers
 * of a request, and a client can open 250 watches on each of many connections. Therefore, all
 * watches of a user share one limit.
 */
import { tooManyRequests } from '../../api/errors.ts'

/**
 * Maximum length of a selector that is not counted. The watch itself uses at least as much memory
 * as such a selector.
 */
const SHORT_CHARACTERS = 128
/**
 * Maximum total length of one user's selectors. A parsed selector takes up to 30 bytes per
 * character, so the selectors of one user can take 30 MB.
 */
export const HELD_CHARACTERS_MAX = 1 << 20
/** Delay before a retry. Open watches end after a few minutes. */
const RETRY_SECONDS = 60

export class HeldSelectors {
  /** Total length of selectors, by user. Users without selectors have no entry. */
  readonly #characters = new Map<string, number>()

  /**
   * Counts a selector until the returned function is called. Calling that function again has no
   * effect. Fails with TooManyRequests if the user's limit would be exceeded.
   */
  hold(user: string, characters: number): () => void {
    if (characters <= SHORT_CHARACTERS) return nothing
    const held = this.#characters.get(user) ?? 0
    if (held + characters > HELD_CHARACTERS_MAX) {
      const what = `the selectors of all your watches may have at most ${HELD_CHARACTERS_MAX} characters in total`
      throw tooManyRequests(`${what}: use shorter selectors or end a watch`, RETRY_SECONDS)
    }
    this.#characters.set(user, held + characters)
    let isHeld = true
    return () => {
      if (isHeld) this.#release(user, characters)
      isHeld = false
    }
  }

  #release(user: string, characters: number): void {
    const left = (this.#characters.get(user) ?? 0) - characters
    if (left > 0) this.#characters.set(user, left)
    else this.#characters.delete(user)
  }
}

const nothing = (): void => {}

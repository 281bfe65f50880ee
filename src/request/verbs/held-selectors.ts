/**
 * Limits the memory that the selectors of open watches take. A selector may be as long as a
 * request's headers, and a client may open 250 watches on each of many connections. The limit is
 * therefore for all watches of a user.
 */
import { tooManyRequests } from '../../api/errors.ts'

/** Selectors up to this length are not counted, because the watch itself takes as much memory. */
const SHORT_CHARACTERS = 128
/**
 * Maximum total length of one user's selectors. Parsed into sets of values, selectors take up to 30
 * bytes per character, so this allows 30 MB.
 */
export const HELD_CHARACTERS_MAX = 1 << 20
/** Wait before a retry. Open watches end after minutes. */
const RETRY_SECONDS = 60

export class HeldSelectors {
  /** Total length of the selectors by user. A user without selectors has no entry. */
  readonly #characters = new Map<string, number>()

  /**
   * Counts a selector until the returned function is called; further calls have no effect. Fails
   * with TooManyRequests if the user's limit is exceeded.
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

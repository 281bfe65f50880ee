/**
 * Counts the selectors that open watches keep in memory. One may be as long as a request's headers,
 * and a client may open 250 watches on each of many connections: the total of one user is limited.
 */
import { tooManyRequests } from '../../api/errors.ts'

/** Shorter selectors are not counted: the watch itself takes as much memory. */
const SHORT_CHARACTERS = 128
/**
 * Limit of one user. Parsed into sets of values, selectors take up to 30 bytes a character: 30 MB.
 */
export const HELD_CHARACTERS_MAX = 1 << 20
/** Watches end after minutes. */
const RETRY_SECONDS = 60

export class HeldSelectors {
  /** By user; a user without selectors has no entry. */
  readonly #characters = new Map<string, number>()

  /**
   * Counts a selector until the returned function is called; further calls have no effect. Fails
   * with TooManyRequests.
   */
  hold(user: string, characters: number): () => void {
    if (characters <= SHORT_CHARACTERS) return nothing
    const held = this.#characters.get(user) ?? 0
    if (held + characters > HELD_CHARACTERS_MAX) {
      const what = `the selectors of all your watches may have ${HELD_CHARACTERS_MAX} characters together`
      throw tooManyRequests(`${what}: use shorter ones, or end a watch`, RETRY_SECONDS)
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

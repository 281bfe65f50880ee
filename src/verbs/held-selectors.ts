/**
 * The selectors that open watches hold. One may be as long as the head of a request, and a client may open 250 watches on each of many
 * connections: what those of one user hold together is bounded.
 */
import { tooManyRequests } from '../api/errors.ts'

/** Shorter ones are not counted: the watch itself holds as much. */
const SHORT_CHARACTERS = 128
/** Of one user. Read into sets of values they take up to 30 bytes a character: 30 MB. */
export const HELD_CHARACTERS_MAX = 1 << 20
/** Watches last for minutes. */
const RETRY_SECONDS = 60

export class HeldSelectors {
  /** By user; only of those who hold any. */
  readonly #characters = new Map<string, number>()

  /** Until the function that comes back is called, once or more often. Fails with TooManyRequests. */
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

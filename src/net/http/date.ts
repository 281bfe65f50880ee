/** The value of the Date header, formatted at most once a second. */
export class AnswerDate {
  #second = -1
  #text = ''

  get(): string {
    const nowMs = Date.now()
    const second = Math.floor(nowMs / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#text = new Date(nowMs).toUTCString()
    }
    return this.#text
  }
}

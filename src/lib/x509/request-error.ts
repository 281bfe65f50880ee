/** Why a request for a certificate cannot be accepted, in the words of Go's crypto/x509. */
export class RequestError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RequestError'
  }
}

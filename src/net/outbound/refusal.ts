/**
 * Error messages for webhooks that respond with an error status. The messages are those of
 * kube-apiserver's client, because operators search for them.
 */
import { textOf } from '../../api/object.ts'
import { quoteWhole } from '../../api/quote.ts'
import { fieldsIn } from './body.ts'
import type { Answer } from './send.ts'

/** Maximum length of the response text in the message, as in kube-apiserver. */
const TEXT_LENGTH_MAX = 2048
/**
 * Maximum length of a body that is parsed. It limits how long parsing blocks the event loop. A
 * Status object is far smaller.
 */
const STATUS_LENGTH_MAX = 64 << 10

const messages: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
}

/** Returns the error message, or undefined if the call succeeded. */
export function refusalOf({
  status,
  type,
  text,
}: Pick<Answer, 'status' | 'type' | 'text'>): string | undefined {
  if (status >= 200 && status <= 206) return undefined
  const isText = type === '' || /^\s*text\//i.test(type)
  const said = isText ? text.slice(0, TEXT_LENGTH_MAX).trim() : 'unknown'
  return messageIn(text) ?? messages[status] ?? messageOf(status, said)
}

function messageOf(status: number, said: string): string {
  if (status === 403 || status === 415) return said
  if (status === 406) {
    const isSilent = said === '' || said === 'unknown'
    return isSilent
      ? 'the server was unable to respond with a content type that the client supports'
      : said
  }
  if (status >= 500)
    return `an error on the server (${quoteWhole(said)}) has prevented the request from succeeding`
  return `the server responded with the status code ${status} but did not return more information`
}

/** Returns the message of a Status object that reports a failure. */
function messageIn(text: string): string | undefined {
  if (text.length > STATUS_LENGTH_MAX) return undefined
  const { kind, apiVersion = 'v1', status, message } = fieldsIn(text) ?? {}
  return kind === 'Status' && apiVersion === 'v1' && status === 'Failure'
    ? textOf(message)
    : undefined
}

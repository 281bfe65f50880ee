import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { createServer } from 'node:tls'
import { systemTime } from '../../../lib/time/timers.ts'
import { createSelfSigned } from '../../../lib/x509/certificates.ts'
import { portOf } from '../../../../test/support/harness/port-of.ts'
import { IssuerClient } from './issuer-client.ts'

const urls: readonly [string, string, RegExp][] = [
  [
    'that cannot be reached',
    'https://jane:secret@127.0.0.1:1/claims',
    /^Get "https:\/\/jane:\*\*\*@127.0.0.1:1\/claims": /,
  ],
  [
    'with an unsupported scheme',
    'http://jane:secret@127.0.0.1:1/',
    /^Get "http:\/\/jane:\*\*\*@127.0.0.1:1\/": URL scheme/,
  ],
  ['that is invalid', 'https://jane:secret@:x/', /^parse "https:\/\/\*\*\*@:x\/": invalid URL$/],
  ['without a password', 'http://jane@127.0.0.1/', /^Get "http:\/\/jane@127.0.0.1\/": /],
]
for (const [what, url, message] of urls) {
  test(`the error for an issuer URL ${what} does not reveal a password`, async () => {
    using client = new IssuerClient('', systemTime)
    await assert.rejects(client.get(url), { message })
  })
}

test('a request to an OpenID issuer fails if the issuer switches protocols or closes the connection', async () => {
  const { certificatePem, keyPem } = createSelfSigned('issuer', ['127.0.0.1'], Date.now())
  let isSwitching = true
  const issuer = createServer({ cert: certificatePem, key: keyPem }, (socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      if (isSwitching)
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
        )
      else socket.end()
    })
  })
  issuer.listen(0, '127.0.0.1')
  await once(issuer, 'listening')
  using client = new IssuerClient(certificatePem, systemTime)
  const url = `https://127.0.0.1:${portOf(issuer)}/`
  await assert.rejects(client.get(url), {
    message: /: unexpected response: 101 Switching Protocols$/,
  })
  isSwitching = false
  await assert.rejects(client.get(url))
  issuer.close()
})

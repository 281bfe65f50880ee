/** Which encoding a stored value has. kube-apiserver writes any of these, depending on the kind and its flags. */
export type Envelope = 'protobuf' | 'cbor' | 'json' | 'unknown'

/** `unknown`: empty, YAML, or not ours; what that means is for the decoder to say. */
export function envelopeOf(value: Buffer): Envelope {
  if (value[0] === 0x6b && value[1] === 0x38 && value[2] === 0x73 && value[3] === 0x00) return 'protobuf'
  if (value[0] === 0xd9 && value[1] === 0xd9 && value[2] === 0xf7) return 'cbor'
  for (const byte of value) {
    if (byte === 0x7b) return 'json'
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break
  }
  return 'unknown'
}

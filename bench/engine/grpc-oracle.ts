/**
 * Calls etcd's KV service through grpc-js and proto-loader. Our own client is measured and checked
 * against it.
 */
import { join } from 'node:path'
import { Client, credentials, loadPackageDefinition, type ServiceError } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

/**
 * Sends a call. Requests and responses have the field names and types of the proto file, except
 * that int64 values are numbers.
 */
export type OracleCall = (
  method: 'Range' | 'Put' | 'DeleteRange' | 'Txn',
  request: object,
) => Promise<unknown>

export type Oracle = { readonly call: OracleCall; readonly close: () => void }

type Invoke = (request: object, done: (error: ServiceError | null, answer: unknown) => void) => void

export function openOracle(host: string): Oracle {
  const definition = loadSync(join(import.meta.dirname, 'etcd.proto'), {
    keepCase: true,
    longs: Number,
    defaults: true,
    oneofs: true,
  })
  const loaded: unknown = loadPackageDefinition(definition)['etcdserverpb']
  const client = newClient(loaded, host)
  return {
    close: () => client.close(),
    call: (method, request) =>
      new Promise((resolve, reject) => {
        const invoke: unknown = Reflect.get(client, method)
        if (!isInvoke(invoke)) throw new Error(`the proto file has no ${method}`)
        invoke.call(client, request, (error, answer) =>
          error === null ? resolve(answer) : reject(error),
        )
      }),
  }
}

function newClient(loaded: unknown, host: string): Client {
  if (
    typeof loaded !== 'object' ||
    loaded === null ||
    !('KV' in loaded) ||
    typeof loaded.KV !== 'function'
  ) {
    throw new Error('the proto file has no KV service')
  }
  const client: unknown = Reflect.construct(loaded.KV, [host, credentials.createInsecure()])
  if (!(client instanceof Client)) throw new Error('grpc-js did not create a client')
  return client
}

function isInvoke(value: unknown): value is Invoke {
  return typeof value === 'function'
}

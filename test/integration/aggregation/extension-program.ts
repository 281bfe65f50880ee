/** Runs a real aggregated API server on this machine, with its own certificate and kubeconfig. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Component } from '../../support/harness/component.ts'
import { freePorts } from '../../support/harness/etcd.ts'

export type ExtensionProgramOptions = {
  /** Name of a program that test/support/tools/install provides. */
  readonly name: string
  readonly certificatePem: string
  readonly keyPem: string
  /** Kubeconfig for the API server that the program extends. */
  readonly kubeconfig: object
  readonly args?: readonly string[]
}

export type ExtensionProgram = AsyncDisposable & {
  readonly port: number
  readonly log: () => string
}

/**
 * Starts the program. Restarts it whenever it exits, because it exits if it does not have its
 * permissions yet.
 */
export async function startExtension(options: ExtensionProgramOptions): Promise<ExtensionProgram> {
  const { name, certificatePem, keyPem, kubeconfig, args = [] } = options
  const dir = await mkdtemp(join(tmpdir(), `keelson-${name}-`))
  const [port = 0] = await freePorts(1)
  await writeFile(join(dir, 'tls.crt'), certificatePem)
  await writeFile(join(dir, 'tls.key'), keyPem, { mode: 0o600 })
  await writeFile(join(dir, 'kubeconfig'), JSON.stringify(kubeconfig), { mode: 0o600 })
  const path = join(dir, 'kubeconfig')
  const program = new Component(name, dir, [
    `--secure-port=${port}`,
    `--tls-cert-file=${join(dir, 'tls.crt')}`,
    `--tls-private-key-file=${join(dir, 'tls.key')}`,
    `--kubeconfig=${path}`,
    `--authentication-kubeconfig=${path}`,
    `--authorization-kubeconfig=${path}`,
    ...args,
  ])
  return {
    port,
    log: () => program.log,
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

/**
 * Returns a Service that refers to this machine by a name, because Endpoints must not contain
 * loopback addresses.
 */
export const hostService = (namespace: string, name: string): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name },
  spec: { type: 'ExternalName', externalName: 'localhost' },
})

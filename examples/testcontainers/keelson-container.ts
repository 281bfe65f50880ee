/**
 * Starts Keelson with Testcontainers, for suites that run all their services in containers. The
 * example is type-checked, but it has not been run. Within a Node program, `keelson/testing` is
 * faster and can fork the cluster.
 */
import { buffer } from 'node:stream/consumers'
import { KubeConfig } from '@kubernetes/client-node'
import { GenericContainer, type StartedTestContainer, Wait } from 'testcontainers'

const PORT = 6443
const FOLDER = '/var/lib/keelson/dev'

export type StartedKeelson = AsyncDisposable & {
  readonly container: StartedTestContainer
  /** Connects clients outside the container. */
  readonly kubeconfig: KubeConfig
}

/** Starts the image and returns when the server is ready. The server keeps all data in memory. */
export async function startKeelson(image: string): Promise<StartedKeelson> {
  const container = await new GenericContainer(image)
    .withCommand(['dev', '--ephemeral', `--data-dir=${FOLDER}`, '--bind-address=0.0.0.0'])
    .withExposedPorts(PORT)
    // The certificate of the server is not trusted yet.
    .withWaitStrategy(Wait.forHttp('/readyz', PORT).usingTls().allowInsecure())
    .start()
  const archive = await container.copyArchiveFromContainer(`${FOLDER}/kubeconfig`)
  const kubeconfig = new KubeConfig()
  kubeconfig.loadFromString(fileIn(await buffer(archive)))
  const server = `https://${container.getHost()}:${container.getMappedPort(PORT)}`
  kubeconfig.clusters = kubeconfig.clusters.map((cluster) => ({
    ...cluster,
    server,
    // The certificate contains the name localhost, but not the name of a remote container engine.
    tlsServerName: 'localhost',
  }))
  return {
    container,
    kubeconfig,
    [Symbol.asyncDispose]: async () => {
      await container.stop()
    },
  }
}

const HEADER_BYTES = 512
const SIZE_AT = 124
const SIZE_END = 136
const OCTAL = 8

/**
 * Returns the content of the only file of a tar archive, which consists of a header followed by the
 * content.
 */
export function fileIn(archive: Buffer): string {
  const bytes = Number.parseInt(archive.toString('latin1', SIZE_AT, SIZE_END), OCTAL)
  return archive.toString('utf8', HEADER_BYTES, HEADER_BYTES + bytes)
}

/**
 * Fills a folder from which a container image can be built (deploy/Containerfile). The folder
 * receives the single executable, the shared libraries that it is linked with, and the root
 * certificates. The executable is built unless a second argument names one.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { rootCertificates } from 'node:tls'
import { buildBinary } from './binary.ts'

const root = join(import.meta.dirname, '..')
/** ID of the user and group, as in distroless images. */
const USER_ID = 65_532

export function fillImage(folder: string, binary: string): void {
  const inside = join(folder, 'root')
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(inside, path)), { recursive: true })
    writeFileSync(join(inside, path), text)
  }
  for (const path of [binary, ...librariesOf(binary)]) {
    const target = path === binary ? programIn(folder) : join(inside, path)
    mkdirSync(dirname(target), { recursive: true })
    if (path !== target) copyFileSync(path, target)
  }
  // This link lets a Pod whose command is kube-apiserver use this image without other changes.
  symlinkSync('keelson', join(inside, 'usr/local/bin/kube-apiserver'))
  put(
    'etc/passwd',
    `root:x:0:0:root:/:/none\nkeelson:x:${USER_ID}:${USER_ID}:keelson:/var/lib/keelson:/none\n`,
  )
  put('etc/group', `root:x:0:\nkeelson:x:${USER_ID}:\n`)
  put('etc/nsswitch.conf', 'hosts: files dns\n')
  // The root certificates of the image are those of Node. Others can be mounted in /etc/ssl/certs.
  put('etc/ssl/cert.pem', `${rootCertificates.join('\n')}\n`)
  for (const path of ['var/lib', 'tmp', 'etc/ssl/certs'])
    mkdirSync(join(inside, path), { recursive: true })
  // `keelson dev --ephemeral` writes to this folder.
  chmodSync(join(inside, 'tmp'), 0o1777)
  // The folder for the volume. Containerfile copies it with the user of the server as its owner.
  mkdirSync(join(folder, 'state', 'keelson'), { recursive: true })
  copyFileSync(join(root, 'deploy', 'Containerfile'), join(folder, 'Containerfile'))
}

const programIn = (folder: string): string => join(folder, 'root', 'usr/local/bin/keelson')

/** Returns the absolute paths of the shared libraries and the loader, as printed by ldd. */
function librariesOf(binary: string): string[] {
  const shown = execFileSync('ldd', [binary], { encoding: 'utf8' })
  return [...shown.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path)
}

if (import.meta.main) {
  const [, , given, binary] = process.argv
  if (given === undefined)
    throw new Error(
      'usage: node scripts/image.ts FOLDER [EXECUTABLE], with an empty folder and an executable that scripts/binary.ts built',
    )
  const folder = resolve(given)
  mkdirSync(folder, { recursive: true })
  const executable = binary === undefined ? programIn(folder) : resolve(binary)
  if (binary === undefined) await buildBinary(executable)
  fillImage(folder, executable)
  console.log(
    `podman build --format=docker --tag keelson ${folder}      (or docker build --tag keelson --file ${folder}/Containerfile ${folder})`,
  )
}

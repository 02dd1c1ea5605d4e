/** All nodes of an emulation over SSH, one port per node, and the cluster and known_hosts files for a console. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { EmulatedNode } from '#core/emulator/node.ts'
import { fingerprintOf } from '../ssh/host-key.ts'
import type { Emulation } from './emulation.ts'
import { newHostKey, type LoginKey } from './keys.ts'
import { serveNode, type NodeServer } from './ssh-server.ts'

const HOST = '127.0.0.1'
const PORT_MOST = 65_535

export interface SshClusterOptions {
  /** Port of the first node; the others follow. 0: any free ports. */
  readonly port: number
  readonly key: LoginKey
  /** Login name in the cluster file. */
  readonly user: string
  /** Folder of the cluster file and known_hosts. */
  readonly folder: string
}

export interface SshCluster {
  readonly nodes: readonly { readonly name: string; readonly roles: EmulatedNode['roles']; readonly port: number }[]
  readonly fingerprint: string
  readonly clusterFile: string
  readonly knownHosts: string
  /** Text of the cluster file, and the same as data. */
  readonly yaml: string
  readonly clusters: readonly unknown[]
  stop(): void
}

/** Opens the servers, all or none. Failures: EMULATE_PORT. */
export async function serveCluster(emulation: Emulation, o: SshClusterOptions): Promise<Result<SshCluster>> {
  const { nodes } = emulation
  if (o.port !== 0 && o.port + nodes.length - 1 > PORT_MOST) {
    const what = `There are not ${nodes.length} free ports from ${o.port} on`
    return fail({ code: 'EMULATE_PORT', what, next: 'Choose a lower one with --port.' })
  }
  const hostKey = newHostKey()
  const servers: NodeServer[] = []
  const stop = (): void => servers.forEach((s) => s.stop())
  for (const [i, node] of nodes.entries()) {
    const port = o.port === 0 ? 0 : o.port + i
    const served = await serveNode({ node, emulation, hostKey, publicKey: o.key.publicKey, port })
    if (!served.ok) {
      stop()
      return served
    }
    servers.push(served.value)
  }
  const found = nodes.map(({ name, roles }, i) => ({ name, roles, port: servers[i]?.port ?? 0 }))
  const clusters = [
    {
      name: emulation.source.cluster,
      env: 'DEV',
      // Root of an emulated node has no privileges on this machine.
      ...(o.user === 'root' ? { allow_root: true } : {}),
      max_rate: Math.min(999_999, Math.max(1, Math.round(emulation.source.maxRate))),
      nodes: found.map(({ roles, port }) => ({
        host: HOST,
        port,
        user: o.user,
        identity: o.key.identity,
        roles: [...roles],
        jump: null,
      })),
    },
  ]
  const files = { clusterFile: join(o.folder, 'clusters.yaml'), knownHosts: join(o.folder, 'known_hosts') }
  const yaml = stringify({ clusters })
  writeFileSync(files.clusterFile, yaml, { mode: 0o600 })
  const known = found.map(({ port }) => `[${HOST}]:${port} ${hostKey.public}\n`).join('')
  writeFileSync(files.knownHosts, known, { mode: 0o600 })
  return ok({ nodes: found, fingerprint: fingerprintOf(hostKey.blob), ...files, yaml, clusters, stop })
}

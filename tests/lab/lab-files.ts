/** Files with which a console finds and verifies the servers of a lab. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { me, type Sshd } from '../kits/electron/ssh/sshd.ts'
import type { EmulatedNodes } from './emulator-child.ts'

/** Debian's PATH of root. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export interface LabFiles {
  /** File for `sluice --config` in which every server has its address and port. */
  readonly clusterFile: string
  /** File for `ssh -F` in which every server has the name of its node. */
  readonly sshConfig: string
  readonly knownHosts: string
}

interface FileParts {
  readonly cluster: string
  readonly nodes: readonly {
    readonly name: string
    readonly roles: readonly EmulatedNodes[number]['roles'][number][]
    readonly port: number
    /** Lines of known_hosts. */
    readonly known: string
  }[]
  /** Login name. */
  readonly user: string
  readonly identity: string
  readonly jump: Sshd | undefined
  /** More keys of the cluster. */
  readonly settings: Readonly<Record<string, unknown>> | undefined
}

export function labFiles(folder: string, { cluster, nodes, user, identity, jump, settings }: FileParts): LabFiles {
  const files = {
    clusterFile: join(folder, 'clusters.yaml'),
    knownHosts: join(folder, 'known_hosts'),
    sshConfig: join(folder, 'ssh_config'),
  }
  const via = jump ? `${me}@127.0.0.1:${jump.port}` : null
  const entries = nodes.map(({ name, roles, port }) => ({
    name,
    host: '127.0.0.1',
    port,
    user,
    identity,
    roles: [...roles],
    jump: via,
  }))
  writeFileSync(
    files.clusterFile,
    // The accounts of a lab belong to its tests, and root may write there unless a test sets otherwise.
    stringify({
      clusters: [{ name: cluster, env: 'DEV', allow_root: true, core_share: 1, ...settings, nodes: entries }],
    }),
  )
  writeFileSync(files.knownHosts, nodes.map((n) => n.known).join('') + (jump?.knownLines() ?? ''))
  const aliases = nodes.map(({ name, port }) =>
    [
      `Host ${name}`,
      '  HostName 127.0.0.1',
      `  Port ${port}`,
      `  User ${user}`,
      `  IdentityFile ${identity}`,
      '  IdentitiesOnly yes',
      `  UserKnownHostsFile ${files.knownHosts}`,
      ...(via === null ? [] : ['  ProxyJump jump']),
      '',
    ].join('\n'),
  )
  const first = jump
    ? [
        'Host jump',
        '  HostName 127.0.0.1',
        `  Port ${jump.port}`,
        `  User ${me}`,
        `  IdentityFile ${identity}`,
        '  IdentitiesOnly yes',
        `  UserKnownHostsFile ${files.knownHosts}`,
        '',
      ]
    : []
  writeFileSync(files.sshConfig, [first.join('\n'), ...aliases].join('\n'))
  return files
}

/**
 * Many servers for benchmarks, at nearly no cost: real sshds whose `lctl` prints recorded answers of an emulated OSS. Nothing
 * changes and nothing can be written. Every server has one OST with its own name.
 */
import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { NS_PER_S } from '#core/base/units.ts'
import { EmulatedCluster } from '#core/emulator/cluster.ts'
import type { EmulatedNode } from '#core/emulator/node.ts'
import { parseScenario } from '#core/emulator/scenario.ts'
import { freePort, makeKey, me, publicHalf, scratch, startSshd, type Sshd } from '../kits/electron/ssh/sshd.ts'
import { scriptFolder } from './stand-ins.ts'
import { labFiles, SYSTEM_PATH, type LabFiles } from './lab-files.ts'

/** Sockets of one sshd; OpenSSH allows 16. */
const PORTS = 15
const RECORDED = /^(?:version|health_check|jobid_\w+|cpu_partition_\w+|ost\.OSS\.[\w.]+|obdfilter\.[\w-]+\.[a-z_]+)$/

export interface StillLabOptions {
  readonly servers: number
  /** Entries of every job_stats. */
  readonly jobs: number
  /** Their ids, as byte text; default in Slurm's form. */
  readonly ids?: readonly string[]
  /** Set to make every non-zero counter the time in seconds: all jobs are active. */
  readonly moves?: boolean
  readonly settings?: Readonly<Record<string, unknown>>
}

export interface StillLab extends LabFiles {
  readonly identity: string
  readonly user: string
  readonly ports: readonly number[]
  stop(): void
}

function recordedNode(jobs: number, ids: readonly string[] = []): EmulatedNode {
  const idOf = (i: number): string =>
    JSON.stringify(ids[i] ?? `${5000 + i}.still_${i}.u${1000 + (i % 40)}`).replace(
      /[\x7f-\xff]/g,
      (c) => `\\x${c.charCodeAt(0).toString(16)}`,
    )
  const of = (i: number): string =>
    `  - { id: ${idOf(i)}, clients: [${(i % 32) + 1}], op: ${i % 2 ? 'read' : 'write'}, ` +
    `user: u${i % 40}, account: a${i % 8}, size_kib: 64, total_rpcs: 4, pattern: { kind: continuous } }`
  const scenario = parseScenario(
    [
      'title: Still',
      'cluster: still',
      'clients: { count: 32 }',
      'oss: [{ name: still, osts: [{ name: still-OST0000, disk: { bandwidth_mb_s: 100000 } }] }]',
      'control: { max_rate: 1000 }',
      'jobs:',
      ...Array.from({ length: jobs }, (_, i) => of(i)),
    ].join('\n'),
  )
  if (!scenario.ok) throw new Error(scenario.error.why)
  const cluster = new EmulatedCluster(scenario.value, { epochSeconds: Math.floor(Date.now() / 1000) - 5 })
  cluster.sim.runUntil(5 * NS_PER_S)
  return cluster.node('still') as EmulatedNode
}

/** lctl of the server identified by the port of the connection; `*` in a name is expanded by the shell. */
const script = (folder: string, moves: boolean): string => `
cd '${folder}'/"\${SSH_CONNECTION##* }" || exit 1
verb=$1
shift
named=yes
while :; do case $1 in -n) named=; shift ;; -?*) shift ;; *) break ;; esac; done
case $verb in
dl) exec cat dl ;;
version | --version) echo "lctl $(cat value/version)"; exit ;;
list_param) cd value || exit 1; for f in $*; do [ -e "$f" ] && echo "$f"; done; exit ;;
get_param) ;;
*) echo "$verb: this server is still" >&2; exit 1 ;;
esac
t=$(date +%s)
missing=
patterns=$*
set --
cd value || exit 1
for f in $patterns; do
  if [ ! -e "$f" ]; then missing="$missing $f"; elif [ "$named" ]; then set -- "$@" "../head/$f" "$f"; else set -- "$@" "$f"; fi
done
[ $# -eq 0 ] || cat "$@"${moves ? ' | LC_ALL=C sed "s/\\(samples: *\\)[1-9][0-9]*,/\\1$t,/;s/\\(snapshot_time: *\\)[0-9]*/\\1$t/"' : ''}
[ "$missing" ] || exit 0
for f in $missing; do echo "error: get_param: param_path '$f': No such file or directory" >&2; done
exit 2`

/** Writes the answers of the node as files: each value once, and under each server's own name of its OST. */
function record(folder: string, node: EmulatedNode, ports: readonly number[]): void {
  const names = node
    .exec(`lctl list_param -R '*'`)
    .stdout.split('\n')
    .filter((n) => RECORDED.test(n))
  const values = names.flatMap((name) => {
    const { stdout, code } = node.exec(`lctl get_param -n ${name}`)
    return code === 0 && stdout !== '' ? [{ name, value: stdout }] : []
  })
  const devices = node.exec('lctl dl').stdout
  mkdirSync(join(folder, 'all'))
  for (const { name, value } of values) writeFileSync(join(folder, 'all', name), value, 'latin1')
  ports.forEach((port, i) => {
    const own = (text: string): string => text.replaceAll('OST0000', `OST${i.toString(16).padStart(4, '0')}`)
    const server = join(folder, String(port))
    for (const part of ['value', 'head']) mkdirSync(join(server, part), { recursive: true })
    for (const { name, value } of values) {
      linkSync(join(folder, 'all', name), join(server, 'value', own(name)))
      writeFileSync(join(server, 'head', own(name)), `${own(name)}=${/\n./.test(value) ? '\n' : ''}`)
    }
    writeFileSync(join(server, 'dl'), own(devices))
  })
}

export async function startStillLab({
  servers,
  jobs,
  ids,
  moves = false,
  settings,
}: StillLabOptions): Promise<StillLab> {
  const folder = scratch()
  const identity = makeKey(join(folder, 'id_lab'))
  const hostKey = makeKey(join(folder, 'host'))
  const recordings = join(folder, 'recordings')
  mkdirSync(recordings)
  const programs = scriptFolder({ lctl: script(recordings, moves), hostname: 'echo "still-${SSH_CONNECTION##* }"' })
  const sshds: Sshd[] = []
  const ports: number[] = []
  while (ports.length < servers) {
    const more: number[] = []
    while (more.length < Math.min(PORTS, servers - ports.length) - 1) {
      const port = await freePort()
      if (!more.includes(port)) more.push(port)
    }
    const setEnv = `SetEnv "PATH=${programs}:${SYSTEM_PATH}" SHLVL=2`
    const lines = [...more.map((p) => `Port ${p}`), setEnv]
    const sshd = await startSshd({ authorized: [publicHalf(identity)], hostKeys: [hostKey], lines })
    sshds.push(sshd)
    ports.push(sshd.port, ...more)
  }
  record(recordings, recordedNode(jobs, ids), ports)
  const host = `${publicHalf(hostKey)}\n`
  const nodes = ports.map((port, i) => ({
    name: `still${i}`,
    roles: ['oss'] as const,
    port,
    known: `[127.0.0.1]:${port} ${host}`,
  }))
  return {
    ...labFiles(folder, { cluster: 'still', nodes, user: me, identity, jump: undefined, settings }),
    identity,
    user: me,
    ports,
    stop: () => sshds.forEach((s) => s.stop()),
  }
}

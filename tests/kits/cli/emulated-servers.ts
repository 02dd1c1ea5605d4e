/**
 * Cluster over SSH within the test's process: the emulator's nodes, each with its own SSH server on loopback, as with `sluice
 * emulate --ssh`. Keys, host keys, sessions, shells and connection losses are real; no program is started.
 *
 *     const servers = await emulatedServers({ scenario })
 *     … servers.clusterFile, servers.knownHosts …
 *     expect(await servers.rules('oss01')).toContain('sl_')
 *     await servers.stop()
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { ROOT, type NodeUser } from '#core/emulator/lctl/host.ts'
import type { EmulatedNode } from '#core/emulator/node.ts'
import type { ExecResult } from '#electron/base/connection.ts'
import { Emulation } from '#electron/emulate/emulation.ts'
import { newHostKey, newKey, type RunHostKey } from '#electron/emulate/keys.ts'
import { serveNode, type NodeServer } from '#electron/emulate/ssh-server.ts'
import { demoScenario } from '#electron/files/resources.ts'
import { readScenario } from '#electron/host/scenario-file.ts'
import { tempFolder } from '../../node/temp-folder.ts'

export interface EmulatedServersOptions {
  /** Scenario file; default demo.yaml. */
  readonly scenario?: string
  /** Nodes with an SSH server; default all but PADLL's controller. */
  readonly servers?: readonly string[]
  readonly speed?: number
  /** More keys of the cluster in the cluster file; default a sample every 500 ms. */
  readonly settings?: Readonly<Record<string, unknown>>
}

export interface EmulatedServers {
  readonly cluster: string
  readonly clusterFile: string
  readonly knownHosts: string
  /** The authorized private key. */
  readonly identity: string
  /** Authentication requests so far, of any kind. */
  logins(): number
  /** Runs a command line in the shell of the emulated node, as root, bypassing SSH. */
  exec(node: string, line: string): ExecResult
  /** Current nrs_tbf_rule of ost_io, bypassing SSH. */
  rules(node: string): string
  setSpeed(speed: number): void
  /** Turns the server off: its connections end, and its port is closed. */
  kill(node: string): void
  /** Turns it on again, on the same port. */
  restart(node: string): Promise<void>
  stop(): Promise<void>
}

interface Served {
  readonly node: EmulatedNode
  readonly port: number
  server: NodeServer | undefined
}

/** A scenario file: cluster `demo`, two servers, and one job that always has RPCs waiting. */
export function twoServers(job: string): string {
  const disk = { bandwidth_mb_s: 1000, per_op_us: 20_000, channels: 4 }
  const path = join(tempFolder(), 'two-servers.yaml')
  const scenario = {
    title: 'Two servers',
    cluster: 'demo',
    policy: 'tbf jobid',
    clients: { count: 1 },
    oss: [1, 2].map((n) => ({ name: `oss0${n}`, osts: [{ name: `demo-OST000${n}`, disk }] })),
    control: { max_rate: 200, period_ms: 1000 },
    jobs: [{ id: job, clients: [1], processes: 4, op: 'write', size_kib: 64, pattern: { kind: 'continuous' } }],
  }
  writeFileSync(path, stringify(scenario))
  return path
}

/** Counts authentication requests. */
class CountedEmulation extends Emulation {
  logins = 0

  override user(name: string): NodeUser | undefined {
    this.logins++
    return super.user(name)
  }
}

/** Creates a key that no server accepts. @returns its private file. */
export function otherKey(): string {
  const key = newKey(tempFolder())
  if (!key.ok) throw new Error(key.error.what)
  return key.value.identity
}

export async function emulatedServers(o: EmulatedServersOptions = {}): Promise<EmulatedServers> {
  const scenario = readScenario(o.scenario ?? demoScenario())
  if (!scenario.ok) throw new Error(`${scenario.error.what}: ${scenario.error.why ?? ''}`)
  const emulation = new CountedEmulation(scenario.value, { speed: o.speed ?? 1, sudo: 'none' })
  const folder = tempFolder()
  const key = newKey(folder)
  if (!key.ok) throw new Error(key.error.what)
  const hostKey: RunHostKey = newHostKey()
  const listen = async (node: EmulatedNode, port: number): Promise<NodeServer> => {
    const server = await serveNode({ node, emulation, hostKey, publicKey: key.value.publicKey, port })
    if (!server.ok) throw new Error(server.error.why)
    return server.value
  }
  const served = new Map<string, Served>()
  for (const node of emulation.nodes) {
    if (o.servers ? !o.servers.includes(node.name) : node.roles.includes('controller')) continue
    const server = await listen(node, 0)
    served.set(node.name, { node, port: server.port, server })
  }
  const of = (name: string): Served => {
    const found = served.get(name)
    if (!found) throw new Error(`no server is called ${name}`)
    return found
  }
  const { cluster } = emulation.source
  const files = { clusterFile: join(folder, 'clusters.yaml'), knownHosts: join(folder, 'known_hosts') }
  const { identity } = key.value
  const nodes = [...served.values()].map(({ node, port }) => ({
    name: node.name,
    host: '127.0.0.1',
    port,
    user: 'root',
    identity,
    roles: [...node.roles],
    jump: null,
  }))
  const written = { name: cluster, env: 'DEV', allow_root: true, core_share: 1, interval_ms: 500 }
  writeFileSync(files.clusterFile, stringify({ clusters: [{ ...written, ...o.settings, nodes }] }))
  writeFileSync(files.knownHosts, nodes.map(({ port }) => `[127.0.0.1]:${port} ${hostKey.public}\n`).join(''))
  const exec = (name: string, line: string): ExecResult => {
    const node = emulation.source.emulator.node(name)
    if (!node) throw new Error(`no node is called ${name}`)
    return emulation.exec(node, line, ROOT)
  }
  emulation.start()
  return {
    cluster,
    ...files,
    identity,
    logins: () => emulation.logins,
    exec,
    rules: (name) => exec(name, 'lctl get_param -n ost.OSS.ost_io.nrs_tbf_rule').stdout,
    setSpeed: (speed) => emulation.source.setSpeed(speed),
    kill: (name) => {
      const one = of(name)
      one.server?.stop()
      one.server = undefined
    },
    restart: async (name) => {
      const one = of(name)
      one.server ??= await listen(one.node, one.port)
    },
    stop: async () => {
      for (const { server } of served.values()) server?.stop()
      await emulation.stop()
    },
  }
}

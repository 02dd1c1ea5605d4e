/**
 * Cluster on loopback: one real OpenSSH server per node, and on its PATH stand-ins for the programs of a Lustre server, behind
 * which the emulator plays the node. Clients see a real sshd, a real shell and real failures.
 *
 *     const lab = await startLab()
 *     … lab.clusterFile, lab.knownHosts, lab.identity …
 *     expect(await lab.rules('oss01')).toContain('sluice_')
 *     await lab.stop()
 *
 * Root logs in; `login: 'ops'` adds stand-ins for id, whoami and sudo, which run as an ordinary user of the emulated node.
 *
 * `parts: 'nspawn'` makes each server a container with real parts instead (nspawn.ts), where `login: 'ops'` is a Debian login.
 */
import { join } from 'node:path'
import type { ExecResult } from '#electron/base/connection.ts'
import { demoScenario } from '#electron/files/resources.ts'
import { makeKey, me, publicHalf, scratch, startSshd, type Sshd } from '../kits/electron/ssh/sshd.ts'
import { startEmulator, type EmulatedNodes, type EmulatorChild } from './emulator-child.ts'
import { endProcessesWith, filesOf, processesWith } from './left-behind.ts'
import { labFiles, SYSTEM_PATH, type LabFiles } from './lab-files.ts'
import { LOGIN, startServer, type LoginShell, type Release, type Server } from './nspawn.ts'
import { scriptFolder, standInFolder } from './stand-ins.ts'

export interface LabOptions {
  /**
   * One sshd per server with stand-ins on its PATH, or containers with real parts; default as set by SLUICE_LAB_PARTS, otherwise
   * the first.
   */
  readonly parts?: 'stand-ins' | 'nspawn'
  /** Release of containers. */
  readonly release?: Release
  readonly shell?: LoginShell
  /** Scenario file; default demo.yaml. */
  readonly scenario?: string
  /** Nodes with an sshd; default all but PADLL's controller. */
  readonly servers?: readonly string[]
  readonly speed?: number
  readonly login?: 'root' | 'ops'
  /** Rights of `ops` through sudo; `clear`: those to write, and to clear job_stats, in containers. */
  readonly sudo?: 'read' | 'write' | 'clear' | 'broad' | 'none'
  /**
   * Mechanism of expiry timers: systemd of the emulated node, or none, so that a console falls back to processes of the real
   * shell.
   */
  readonly timers?: 'systemd' | 'shell'
  /** Set to reach the servers through another sshd. */
  readonly jump?: boolean
  /** Lines of sshd_config for the servers. */
  readonly lines?: readonly string[]
  /** Scripts by name, on every server before all other programs. */
  readonly programs?: Readonly<Record<string, string>>
  /** Folder of this machine that every server shares, for logins as $LAB_SHARED. */
  readonly shared?: string
  /** More environment variables of every login, for servers that are stand-ins. */
  readonly env?: Readonly<Record<string, string>>
  /** More keys of the cluster in the cluster file, such as `interval_ms`. */
  readonly settings?: Readonly<Record<string, unknown>>
}

export interface LabNode {
  /** Name of the emulated node. */
  readonly name: string
  readonly roles: EmulatedNodes[number]['roles']
  readonly port: number
  readonly sshd: LabSshd
}

/** SSH server of a node, and in a container the whole server. */
export type LabSshd = Pick<Sshd, 'port' | 'hostKeys' | 'knownLines' | 'log' | 'killSessions' | 'stall' | 'stop'>

export interface Lab extends LabFiles {
  readonly cluster: string
  readonly nodes: readonly LabNode[]
  /** SSH server of the jump host; undefined without one. */
  readonly jump: Sshd | undefined
  /** The authorized private key. */
  readonly identity: string
  /** Login name on this machine. */
  readonly user: string
  /** Process of the emulator. */
  readonly emulatorPid: number
  node(name: string): LabNode
  /** Runs a command line in the shell of the emulated node, as root, bypassing SSH. */
  exec(node: string, line: string): Promise<ExecResult>
  /** Current nrs_tbf_rule of a service, bypassing SSH. */
  rules(node: string, service?: string): Promise<string>
  setSpeed(speed: number): Promise<void>
  /** Units of Sluice's timers on the server, bypassing SSH; also for a stalled one. */
  timers(node: string): Promise<string[]>
  /**
   * Makes the server unreachable: its connections end at once with all that they run, and its port is closed. The server itself
   * keeps running.
   */
  cut(node: string): void
  /**
   * Turns the server off: its connections end at once, and its port is closed. A container loses its timers, the emulated node
   * nothing.
   */
  kill(node: string): void
  /** Turns it on, or makes it reachable, on the same port; with a new host key on request. */
  restart(node: string, change?: { readonly hostKey: 'same' | 'new' }): Promise<void>
  /** Stalls the server: connections stay open without any traffic. */
  stall(node: string): void
  resume(node: string): void
  /** Makes the emulated node lose its rules, policies, job_stats and timers, like a reboot. */
  forget(node: string): Promise<void>
  /** Processes that logins left behind on the server, or that still run for them: command lines. */
  processes(node: string): Promise<readonly string[]>
  /**
   * Files where a login can leave some; for a stand-in those in its HOME and its TMPDIR, and elsewhere those with Sluice's name.
   */
  files(node: string): Promise<readonly string[]>
  stop(): Promise<void>
}

const programsOf = (roles: LabNode['roles'], o: LabOptions): string[] => [
  'hostname',
  ...(roles.includes('oss') || roles.includes('mds') ? ['lctl'] : []),
  ...(roles.includes('scheduler') ? ['squeue', 'scontrol'] : []),
  ...(roles.includes('controller') ? ['sluice'] : []),
  ...(o.timers === 'shell' ? [] : ['systemd-run', 'systemctl']),
  ...(o.login === 'ops' ? ['id', 'whoami', 'sudo'] : []),
]

interface Running {
  readonly node: LabNode
  readonly lines: readonly string[]
  /** The container; undefined for a stand-in. */
  readonly server?: Server
}

/** Containers boot one after another: in parallel they are no faster on two cores. */
async function startServers(
  o: LabOptions,
  nodes: EmulatedNodes,
  socket: string,
  authorized: readonly string[],
): Promise<Map<string, Running>> {
  const running = new Map<string, Running>()
  const programs = o.programs ? scriptFolder(o.programs) : undefined
  for (const { name, roles } of nodes) {
    if (!roles.includes('oss') && !roles.includes('mds')) continue
    if (o.servers && !o.servers.includes(name)) continue
    const { release, shell, lines } = o
    const sudo = o.sudo === 'broad' ? undefined : o.sudo
    const more = { shared: o.shared, hasTimers: o.timers !== 'shell' }
    const server = await startServer({ name, release, shell, socket, authorized, sudo, lines, programs, ...more })
    running.set(name, { node: { name, roles, port: server.port, sshd: server }, lines: [], server })
  }
  return running
}

export async function startLab(o: LabOptions = {}): Promise<Lab> {
  const folder = scratch()
  const identity = makeKey(join(folder, 'id_lab'))
  const authorized = [publicHalf(identity)]
  const emulator = await startEmulator({
    scenario: o.scenario ?? demoScenario(),
    speed: o.speed ?? 1,
    args: o.sudo === undefined ? [] : ['--sudo', o.sudo === 'clear' ? 'write' : o.sudo],
  })
  const jump = o.jump ? await startSshd({ authorized }) : undefined
  if (isReal(o)) {
    const servers = await startServers(o, emulator.nodes, emulator.socket, authorized)
    return labOf(o, { folder, identity, emulator, jump: undefined, running: servers, authorized })
  }
  const running = new Map<string, Running>()
  const first = o.programs ? `${scriptFolder(o.programs)}:` : ''
  for (const { name, roles } of emulator.nodes) {
    if (o.servers ? !o.servers.includes(name) : roles.includes('controller')) continue
    const env = {
      ...o.env,
      PATH: `${first}${standInFolder(programsOf(roles, o))}:${SYSTEM_PATH}`,
      SLUICE_STANDIN_SOCKET: emulator.socket,
      SLUICE_STANDIN_NODE: name,
      SLUICE_STANDIN_USER: o.login ?? 'root',
      ...(o.shared === undefined ? {} : { LAB_SHARED: o.shared }),
      SHLVL: '2',
    }
    // sshd uses the first of several SetEnv lines.
    const setEnv = `SetEnv ${Object.entries(env)
      .map(([k, v]) => `"${k}=${v}"`)
      .join(' ')}`
    const lines = [...(o.lines ?? []), setEnv]
    const sshd = await startSshd({ authorized, lines })
    running.set(name, { node: { name, roles, port: sshd.port, sshd }, lines })
  }
  return labOf(o, { folder, identity, emulator, jump, running, authorized })
}

/** Environment of every login on a stand-in, and of no other process on this machine. */
const marksOf = (socket: string, node: string): string[] => [
  `SLUICE_STANDIN_SOCKET=${socket}\0`,
  `SLUICE_STANDIN_NODE=${node}\0`,
]

const isReal = (o: LabOptions): boolean => (o.parts ?? process.env.SLUICE_LAB_PARTS) === 'nspawn'

interface LabParts {
  readonly folder: string
  readonly identity: string
  readonly emulator: EmulatorChild
  readonly jump: Sshd | undefined
  readonly running: Map<string, Running>
  readonly authorized: readonly string[]
}

function labOf(o: LabOptions, { folder, identity, emulator, jump, running, authorized }: LabParts): Lab {
  const user = isReal(o) ? (o.login === 'ops' ? LOGIN : 'root') : me
  const of = (name: string): Running => {
    const found = running.get(name)
    if (!found) throw new Error(`the lab has no node called ${name}`)
    return found
  }
  const nodes = (): LabNode[] => [...running.values()].map((r) => r.node)
  const known = nodes().map((n) => ({ ...n, known: n.sshd.knownLines() }))
  const { cluster } = emulator
  const files = labFiles(folder, { cluster, nodes: known, user, identity, jump, settings: o.settings })
  const emulated = (node: string, line: string): Promise<ExecResult> =>
    emulator.ask({ kind: 'line', node, user: 'root', words: [line] })
  const exec = (node: string, line: string): Promise<ExecResult> =>
    running.get(node)?.server?.run(line) ?? emulated(node, line)
  return {
    ...files,
    cluster,
    get nodes() {
      return nodes()
    },
    jump,
    identity,
    user,
    emulatorPid: emulator.pid,
    node: (name) => of(name).node,
    exec,
    rules: async (node, service = 'ost.OSS.ost_io') =>
      (await exec(node, `lctl get_param -n ${service}.nrs_tbf_rule`)).stdout,
    setSpeed: async (speed) => {
      await emulator.ask({ kind: 'speed', node: String(speed), user: '', words: [] })
    },
    timers: async (name) => {
      const { server } = of(name)
      if (server) return server.timers()
      const { stdout } = await emulated(name, 'systemctl list-units sluice-*.timer --all --no-legend --plain')
      return stdout.split('\n').flatMap((l) => l.split(' ')[0] || [])
    },
    cut: (name) => {
      const { node, server } = of(name)
      if (server) server.cut()
      else node.sshd.stop()
    },
    kill: (name) => of(name).node.sshd.stop(),
    restart: async (name, { hostKey } = { hostKey: 'same' }) => {
      const { node, lines, server } = of(name)
      if (server) return server.restart()
      node.sshd.stop()
      const hostKeys = hostKey === 'same' ? { hostKeys: node.sshd.hostKeys } : {}
      const sshd = await startSshd({ authorized, lines, port: node.port, ...hostKeys })
      running.set(name, { node: { ...node, sshd }, lines })
    },
    stall: (name) => of(name).node.sshd.stall(true),
    resume: (name) => of(name).node.sshd.stall(false),
    forget: async (name) => {
      await forget(name, emulated)
      for (const unit of (await of(name).server?.timers()) ?? []) await exec(name, `systemctl stop ${unit}`)
    },
    processes: async (name) => of(name).server?.processes() ?? processesWith(marksOf(emulator.socket, name)),
    files: async (name) => of(name).server?.files() ?? filesOf([o.env?.['HOME'], o.env?.['TMPDIR']]),
    stop: async () => {
      for (const { name, sshd } of nodes()) {
        sshd.stall(false)
        sshd.stop()
        endProcessesWith(marksOf(emulator.socket, name))
      }
      jump?.stop()
      await emulator.stop()
    },
  }
}

/** Sets every policy back to fifo, clears counters and timers: the state of a server after its modules were reloaded. */
async function forget(node: string, exec: Lab['exec']): Promise<void> {
  const { stdout: policies } = await exec(node, 'lctl list_param *.*.*.nrs_policies')
  for (const name of policies.split('\n').filter((p) => p !== '')) await exec(node, `lctl set_param ${name}=fifo`)
  await exec(node, 'lctl set_param *.*.job_stats=clear')
  const { stdout: units } = await exec(node, 'systemctl list-units *.timer --all --no-legend --plain')
  for (const line of units.split('\n').filter((l) => l !== ''))
    await exec(node, `systemctl stop ${line.split(' ')[0] ?? ''}`)
}

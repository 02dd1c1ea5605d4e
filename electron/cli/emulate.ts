/** `sluice emulate SCENARIO`: serves the emulator over SSH, or over a socket for stand-in programs, until a signal. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { Emulation, SUDO_USER, speedOf, SPEEDS, SUDO_KINDS, type SudoKind } from '../emulate/emulation.ts'
import { existingKey, newKey, runFolder } from '../emulate/keys.ts'
import { serveCluster, type SshCluster } from '../emulate/ssh-cluster.ts'
import { openSocket, type StandInSocket } from '../emulate/stand-in-socket.ts'
import { readScenario } from '../host/scenario-file.ts'
import { scenarioFile, seconds } from './arguments.ts'
import { line, must, stop } from './output.ts'

interface EmulateOptions {
  readonly ssh?: true
  readonly port: number
  readonly key?: string
  readonly sudo?: SudoKind
  readonly socket?: string
  readonly speed: number
  readonly for?: number
  readonly json?: true
}

const speed = (text: string): number => {
  const n = speedOf(text)
  if (n === undefined) throw new InvalidArgumentError(`${SPEEDS}.`)
  return n
}

const port = (text: string): number => {
  const n = /^\d{1,5}$/.test(text) ? Number(text) : NaN
  if (!(n <= 65_535)) throw new InvalidArgumentError('A port from 1 to 65535, or 0 for any that is free.')
  return n
}

interface Served {
  readonly ssh: SshCluster | undefined
  readonly identity: string | undefined
  readonly socket: StandInSocket | undefined
}

/** Opens the requested servers; if one fails, those already open end with the process. */
async function serve(emulation: Emulation, options: EmulateOptions, folder: string): Promise<Served> {
  const key = options.ssh ? must(options.key === undefined ? newKey(folder) : existingKey(options.key)) : undefined
  const user = options.sudo ? SUDO_USER : 'root'
  const ssh = key && must(await serveCluster(emulation, { port: options.port, key, user, folder }))
  const socket = options.socket === undefined ? undefined : must(await openSocket(emulation, options.socket))
  return { ssh, identity: key?.identity, socket }
}

/** Prints one JSON line, or a cluster file with connection details in comments. */
function printServed(emulation: Emulation, { ssh, identity, socket }: Served, options: EmulateOptions): void {
  const nodes = ssh?.nodes ?? emulation.nodes.map(({ name, roles }) => ({ name, roles }))
  if (options.json) {
    const reached = ssh && {
      clusters: ssh.clusters,
      identity,
      host_key: ssh.fingerprint,
      config: ssh.clusterFile,
      known_hosts: ssh.knownHosts,
    }
    const path = socket && { socket: options.socket }
    return line(JSON.stringify({ cluster: emulation.source.cluster, nodes, ...reached, ...path }))
  }
  if (ssh) {
    line(`# Host key of every node: ${ssh.fingerprint}`)
    line(`# The same in ${ssh.clusterFile}; for --known-hosts: ${ssh.knownHosts}`)
    line(`# ${ssh.nodes.map((n) => `${n.port} ${n.name}`).join(', ')}`)
    process.stdout.write(ssh.yaml)
  }
  if (socket) line(`# Stand-ins reach ${nodes.map((n) => n.name).join(', ')} through ${options.socket ?? ''}`)
  line('# Ctrl-C ends')
}

async function emulate(name: string, options: EmulateOptions): Promise<void> {
  if (!options.ssh && options.socket === undefined) {
    stop({ code: 'USAGE', what: 'The emulator would not be reachable', next: 'Give --ssh, --socket PATH, or both.' }, 2)
  }
  const scenario = must(readScenario(scenarioFile(name)))
  const folder = runFolder()
  process.once('exit', () => folder.remove())
  const emulation = new Emulation(scenario, { speed: options.speed, sudo: options.sudo ?? 'none' })
  const served = await serve(emulation, options, folder.path)
  const ended = new Promise<void>((resolve) => {
    if (options.for !== undefined) setTimeout(resolve, options.for * 1000)
    for (const s of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(s, () => resolve())
  })
  emulation.start()
  printServed(emulation, served, options)
  await ended
  served.ssh?.stop()
  served.socket?.stop()
  await emulation.stop()
}

const HELP = `
Prints a cluster file for sluice --config and for the console, then serves until a signal. Every node listens on its own port on
127.0.0.1 only. One key can log in as root and as ${SUDO_USER}: the key of --key, otherwise a new key for this run. Commands run
in the emulated node's shell, without terminal, forwarding or file transfer. A new key and the files are in a folder that is
removed at the end.`

export function emulateCommand(): Command {
  return new Command('emulate')
    .description('emulate a cluster with nodes that can be reached from outside')
    .argument('[scenario]', 'a scenario file, or demo for the built-in one', 'demo')
    .option('--ssh', 'serve every node over SSH on loopback')
    .option('--port <n>', 'port of the first node, the others follow; 0 = any free ports', port, 2201)
    .option('--key <file>', 'private key to authorize; only its .pub is read')
    .addOption(new Option('--sudo <scope>', `log in as ${SUDO_USER}, with these sudo rights`).choices([...SUDO_KINDS]))
    .option('--socket <path>', 'a Unix socket for stand-ins of lctl and other programs')
    .option('--speed <x>', 'emulated seconds per second', speed, 1)
    .option('--for <s>', 'stop after this many seconds', seconds)
    .option('--json', 'one JSON line instead of a cluster file')
    .addHelpText('after', HELP)
    .action(emulate)
}

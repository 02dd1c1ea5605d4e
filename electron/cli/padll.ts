/**
 * `sluice padll …`: daemons of PADLL's control plane, programs under a stage, and commands to the global controller of this node
 * (core/padll/console.ts), which the console also sends over SSH.
 */
import { Command, InvalidArgumentError } from 'commander'
import { formatFailure } from '#core/base/result.ts'
import { answerConsole } from '#core/padll/console.ts'
import { sendCommand } from '../wire/control-channel.ts'
import { readGlobalConfig, readLocalConfig, type GlobalConfig } from '../padll/global-config.ts'
import { startGlobal } from '../padll/global-daemon.ts'
import { startLocal } from '../padll/local-daemon.ts'
import { controlSocket, globalSocket, localSocket, stateFile, thisHost } from '../padll/places.ts'
import { stageEnvironment } from '../padll/stage-environment.ts'
import { stageLibrary } from '../padll/stage-library.ts'
import { parseAddress, printAddress, type Address } from '../wire/address.ts'
import { readSecret, writeKey, type PeerSecret, type SecretFiles } from '../wire/peer-auth.ts'
import { privateSocket } from '../wire/private-socket.ts'
import { line, must, plain, plainJson, plainLines, stop, untilSignal } from './output.ts'
import { runPreloaded } from './run-preloaded.ts'

function address(text: string): Address {
  const read = parseAddress(text)
  if (!read.ok) throw new InvalidArgumentError(read.error.why ?? '')
  return read.value
}

const integer = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('A whole number of at most 15 digits.')
  return Number(text)
}

const log = (text: string): void => void process.stderr.write(`sluice padll: ${plain(text)}\n`)

const lost = (why: string): never =>
  stop({ code: 'SOCKET_LOST', what: 'The controller is no longer reachable', why, next: 'Restart it.' })

interface LocalFlags extends SecretFiles {
  readonly config?: string
  readonly socket?: string
  readonly core?: Address
  readonly name?: string
}

/** Secret from the flags, otherwise from the configuration. */
function secretOf(flags: SecretFiles, configured: SecretFiles = {}): PeerSecret | undefined {
  const { keyFile, tlsCa, tlsCert, tlsKey } = flags
  const isNamed = [keyFile, tlsCa, tlsCert, tlsKey].some((file) => file !== undefined)
  return must(readSecret(isNamed ? { keyFile, tlsCa, tlsCert, tlsKey } : configured), 2)
}

async function local(flags: LocalFlags): Promise<void> {
  const config = flags.config === undefined ? undefined : must(readLocalConfig(flags.config), 2)
  const socket = flags.socket ?? config?.socket ?? localSocket()
  const core = flags.core ?? config?.core ?? { path: globalSocket() }
  const name = flags.name ?? config?.name ?? thisHost()
  const secret = secretOf(flags, config?.secret)
  const daemon = must(await startLocal({ name, hostname: thisHost(), socket, core, secret, log, onLost: lost }))
  untilSignal(() => daemon.close())
  line(`Local controller ${plain(name)}: stages at ${plain(socket)}, global controller at ${plain(printAddress(core))}`)
}

interface GlobalFlags extends SecretFiles {
  readonly config?: string
  readonly listen?: Address
  readonly control?: string
  readonly state?: string
  readonly name?: string
  readonly epoch?: number
}

async function global(flags: GlobalFlags): Promise<void> {
  const config: GlobalConfig = must(readGlobalConfig(flags.config), 2)
  const at = flags.listen ?? config.address ?? { path: globalSocket() }
  const name = flags.name ?? config.name ?? thisHost()
  const secret = secretOf(flags, config.secret)
  const daemon = must(
    await startGlobal({
      name,
      address: at,
      secret,
      controlSocket: flags.control ?? config.controlSocket ?? controlSocket(),
      stateFile: flags.state ?? config.stateFile ?? stateFile(),
      config,
      ...(flags.epoch === undefined ? {} : { leastEpoch: flags.epoch }),
      log,
      onLost: lost,
    }),
  )
  untilSignal(() => daemon.close())
  const where = printAddress(daemon.address)
  line(`Global controller ${plain(name)}, epoch ${daemon.controller.epoch}: local controllers at ${plain(where)}`)
  if (!('path' in daemon.address) && secret === undefined) {
    log('this port has no key: every user of this machine can join. Name a key file, or use a path.')
  }
}

interface RunFlags {
  readonly job: string
  readonly mount: string[]
  readonly socket?: string
  readonly instance: number
  readonly workflows: number
  readonly startMs: number
  readonly refuseIoUring?: true
  readonly report?: string
  readonly cc: string
}

/** Starts a program under the stage and exits with its status. */
async function run(program: string, args: readonly string[], flags: RunFlags): Promise<void> {
  const library = must(await stageLibrary({ cc: flags.cc }))
  const socket = flags.socket ?? localSocket()
  const env = must(
    stageEnvironment({
      library,
      job: flags.job,
      mounts: flags.mount,
      socket,
      instance: flags.instance,
      workflows: flags.workflows,
      startWaitMs: flags.startMs,
      isIoUringRefused: flags.refuseIoUring === true,
      ...(flags.report === undefined ? {} : { report: flags.report }),
    }),
    2,
  )
  // Does not block the program: the stage checks the credentials of its peer and obeys this user and root only.
  const found = privateSocket(socket)
  if (!found.ok)
    log(`the local controller may belong to another user, whom the stage does not obey: ${formatFailure(found.error)}`)
  runPreloaded(program, args, env)
}

async function standardInput(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** Sends a command to the controller of this node and prints the answer as the console receives it. */
async function query(args: readonly string[], control: string | undefined): Promise<void> {
  const [verb, second] = args
  const readsText = verb === 'policies' && (second === 'set' || second === 'check')
  const stdin = readsText ? await standardInput() : ''
  const sent = must(await sendCommand(control ?? controlSocket(), args, stdin))
  const answer = sent ?? answerConsole(args, stdin, undefined)
  process.stderr.write(plainLines(answer.stderr))
  // A status may exceed the pipe buffer: exit only after it is written.
  process.exitCode = answer.code
  const printed = verb === 'status' ? plainJson(answer.stdout) : plainLines(answer.stdout)
  await new Promise<void>((resolve) => process.stdout.write(printed, () => resolve()))
}

const collect = (one: string, all: string[] = []): string[] => [...all, one]
/** Options for mutual authentication of controllers on different machines. */
const withSecret = (command: Command): Command =>
  command
    .option('--key-file <file>', 'shared key of both controllers, mode 0600')
    .option('--tls-ca <file>', 'or mutual TLS: the CA of both controllers,')
    .option('--tls-cert <file>', 'the certificate of this one,')
    .option('--tls-key <file>', 'and its key, mode 0600')
const CONTROL = ['--control <socket>', 'command socket of the global controller'] as const

export function padllCommand(): Command {
  const padll = new Command('padll')
    .description('rate limits for metadata and data calls: stages and their controllers')
    .showHelpAfterError('(see sluice padll --help)')
    .exitOverride()
    .enablePositionalOptions()
  withSecret(padll.command('local'))
    .description('run a local controller, between the stages of this node and the global controller')
    .option('--config <file>', 'YAML with local_address and core_address')
    .option('--socket <path>', 'socket for stages')
    .option('--core <address>', 'the global controller: a path or host:port', address)
    .option('--name <name>', 'name (default: host name)')
    .action((flags: LocalFlags) => local(flags))
  withSecret(padll.command('global'))
    .description('run the global controller')
    .option('--config <file>', 'YAML: system_limit, control_type or algorithm, rule files and more')
    .option('--listen <address>', 'address for local controllers: a path or host:port', address)
    .option(...CONTROL)
    .option('--state <file>', 'state file: epoch, policies, settings')
    .option('--name <name>', 'name (default: host name)')
    .option('--epoch <n>', 'lowest epoch to use', integer)
    .action((flags: GlobalFlags) => global(flags))
  padll
    .command('key')
    .description('write a new key for controllers on different machines, mode 0600')
    .argument('<file>')
    .action((file: string) => line(must(writeKey(file))))
  padll
    .command('run')
    .description('run a program and its children under the stage')
    .requiredOption('--job <id>', 'job id')
    .requiredOption('--mount <path>', 'a managed mount point; may be repeated', collect)
    .option('--socket <path>', 'socket of the local controller (default: that of this user)')
    .option('--instance <n>', 'number of the process within the job', integer, 0)
    .option('--workflows <n>', 'channels to spread calls over', integer, 1)
    .option('--start-ms <n>', 'longest wait of the first call for the controller, ms', integer, 50)
    .option('--refuse-io-uring', 'refuse io_uring, which cannot be limited; also refuses setuid privileges to children')
    .option('--report <folder>', 'folder for the counters of each process')
    .option('--cc <compiler>', 'compiler for the stage', 'cc')
    .argument('<program>')
    .argument('[args...]')
    .passThroughOptions()
    .action((program: string, args: string[], flags: RunFlags) => run(program, args, flags))
  const stage = padll.command('stage').description('stage library that is loaded into programs')
  stage
    .command('build')
    .description('compile it if necessary, and print its path')
    .option('--cc <compiler>', 'compiler', 'cc')
    .action(async ({ cc }: { cc: string }) => line(must(await stageLibrary({ cc }))))
  const sentence = [
    ['status', 'print the state of the global controller as JSON'],
    ['policies', 'show | check | set [--epoch N]: policies of the global controller; text is read from standard input'],
    ['set', '[--epoch N] NAME=VALUE…: algorithm, epsilon, split, collect_rounds, limit.SCOPE'],
  ] as const
  for (const [name, what] of sentence) {
    padll
      .command(name)
      .description(what)
      .option(...CONTROL)
      .argument('[args...]')
      .allowUnknownOption()
      .passThroughOptions()
      .action((rest: string[], { control }: { control?: string }) => query([name, ...rest], control))
  }
  return padll
}

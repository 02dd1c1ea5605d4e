/**
 * `sluice ccpfs …`: servers and client daemons of ccPFS, the file system on SeqDLM, their state, and measurements. The daemons are loaded
 * when they are run.
 */
import { Command, InvalidArgumentError, Option } from 'commander'
import { isAbsolute, resolve } from 'node:path'
import { formatFailure } from '#core/base/result.ts'
import { SEQDLM } from '#core/seqdlm/policy.ts'
import { benchCommand, benchProcessCommand, LOCK_MANAGERS } from './ccpfs-bench.ts'
import { ccpfsRunCommand } from './ccpfs-run.ts'
import { listDaemon, listedDaemons } from '../ccpfs/daemons.ts'
import { clientSocket, metaSocket, serverSocket } from '../ccpfs/places.ts'
import { parseAddress, printAddress, type Address } from '../wire/address.ts'
import { readSecret, writeKey, type PeerSecret, type SecretFiles } from '../wire/peer-auth.ts'
import { jsonText, line, must, plain, stop } from './output.ts'

const CLOSE_MS = 30_000
const MIB = 1 << 20

function address(text: string): Address {
  const read = parseAddress(text)
  if (!read.ok) throw new InvalidArgumentError(read.error.why ?? '')
  return read.value
}

const addresses = (text: string): string[] => text.split(',').map((one) => printAddress(address(one.trim())))

const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,12}$/.test(text) ? Number(text) : NaN
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(`A whole number from ${least} to ${most}.`)
  }

function absolute(text: string): string {
  if (!isAbsolute(text)) throw new InvalidArgumentError('An absolute path.')
  return text
}

const log = (text: string): void => void process.stderr.write(`sluice ccpfs: ${plain(text)}\n`)

/** Stops a daemon on a signal. */
function untilSignal(close: () => Promise<void>): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      setTimeout(() => process.exit(1), CLOSE_MS).unref()
      void close().finally(() => process.exit(0))
    })
  }
}

const lost = (why: string): never =>
  stop({ code: 'CCPFS_STOPPED', what: 'The daemon stopped', why, next: 'Fix the cause and restart it.' })

const secretOf = ({ keyFile, tlsCa, tlsCert, tlsKey }: SecretFiles): PeerSecret | undefined =>
  must(readSecret({ keyFile, tlsCa, tlsCert, tlsKey }), 2)

function warnOpen(at: Address, secret: PeerSecret | undefined): void {
  if ('path' in at || secret !== undefined) return
  log('this port has no key: every user of this machine can read and write all files. Name a key file, or use a path.')
}

/** Lists a daemon for `observe`. @returns the function that ends it. */
function listed(
  daemon: { readonly address: Address; close(): Promise<void> },
  kind: 'server' | 'meta',
  { keyFile, tlsCa, tlsCert, tlsKey }: SecretFiles,
): () => Promise<void> {
  const absolutePath = (file: string | undefined): string | undefined => file && resolve(file)
  const secret = {
    keyFile: absolutePath(keyFile),
    tlsCa: absolutePath(tlsCa),
    tlsCert: absolutePath(tlsCert),
    tlsKey: absolutePath(tlsKey),
  }
  const entry = listDaemon({ kind, address: printAddress(daemon.address), secret })
  if (!entry.ok) log(`it cannot be observed by the console: ${formatFailure(entry.error)}`)
  return () => {
    if (entry.ok) entry.value()
    return daemon.close()
  }
}

interface ServerFlags extends SecretFiles {
  readonly listen: Address
  readonly data: string
  readonly locks: string
  readonly evictSeconds: number
  readonly recoverySeconds: number
  readonly cacheEntries?: number
  readonly syncWrites?: true
}

async function server(flags: ServerFlags): Promise<void> {
  const { startServer } = await import('../ccpfs/server.ts')
  const secret = secretOf(flags)
  const policy = LOCK_MANAGERS[flags.locks] ?? SEQDLM
  const daemon = must(
    await startServer({
      address: flags.listen,
      data: flags.data,
      policy,
      secret,
      evictMs: flags.evictSeconds * 1000,
      recoveryMs: flags.recoverySeconds * 1000,
      threshold: flags.cacheEntries,
      syncsWrites: flags.syncWrites,
      log,
      onLost: lost,
    }),
  )
  untilSignal(listed(daemon, 'server', flags))
  line(`ccPFS server, ${policy.name}, at ${plain(printAddress(daemon.address))}`)
  warnOpen(daemon.address, secret)
}

interface MetaFlags extends SecretFiles {
  readonly listen: Address
  readonly data: string
  readonly servers: readonly string[]
  readonly stripes: number
  readonly stripeKb: number
}

async function meta(flags: MetaFlags): Promise<void> {
  const { startMeta } = await import('../ccpfs/meta.ts')
  const secret = secretOf(flags)
  const daemon = must(
    await startMeta({
      address: flags.listen,
      data: flags.data,
      servers: flags.servers,
      stripes: flags.stripes,
      stripeSize: flags.stripeKb * 1024,
      secret,
      log,
      onLost: lost,
    }),
  )
  untilSignal(listed(daemon, 'meta', flags))
  line(`ccPFS metadata server at ${plain(printAddress(daemon.address))}, ${flags.servers.length} servers`)
  warnOpen(daemon.address, secret)
}

interface ClientFlags extends SecretFiles {
  readonly meta: Address
  readonly socket: string
  readonly dirtyMb: number
  readonly flushMb: number
  readonly cleanMb: number
  readonly flushSeconds: number
}

async function client(flags: ClientFlags): Promise<void> {
  const { startClient } = await import('../ccpfs/client-daemon.ts')
  const daemon = must(
    await startClient({
      meta: flags.meta,
      socket: flags.socket,
      secret: secretOf(flags),
      limits: {
        minDirtyBytes: flags.flushMb * MIB,
        maxDirtyBytes: flags.dirtyMb * MIB,
        maxCleanBytes: flags.cleanMb * MIB,
      },
      flushMs: flags.flushSeconds * 1000,
      log,
      onLost: lost,
    }),
  )
  untilSignal(() => daemon.close())
  line(`ccPFS client ${daemon.fs.client}, ${daemon.fs.policy}, at ${plain(flags.socket)}`)
}

interface QueryFlags extends SecretFiles {
  readonly server?: Address
  readonly meta?: Address
  readonly client?: string
  readonly json?: true
}

async function status(flags: QueryFlags): Promise<void> {
  const { queryClient, queryServer } = await import('../ccpfs/query.ts')
  const chosen = [flags.server, flags.meta, flags.client].filter((one) => one !== undefined)
  if (chosen.length > 1) stop({ code: 'USAGE', what: 'Name one of --server, --meta and --client' }, 2)
  const at = flags.server ?? flags.meta
  const found =
    at === undefined
      ? must(await queryClient(flags.client ?? clientSocket()))
      : must(await queryServer(at, secretOf(flags), 'status'))
  if (flags.json) line(jsonText(found))
  else for (const text of JSON.stringify(found, null, 2).split('\n')) line(plain(text))
}

interface EventFlags extends SecretFiles {
  readonly server: Address
  readonly after: number
  readonly follow?: true
  readonly json?: true
}

const FOLLOW_MS = 500

async function events(flags: EventFlags): Promise<void> {
  const [{ queryServer }, { eventsAnswer }] = await Promise.all([
    import('../ccpfs/query.ts'),
    import('../ccpfs/events.ts'),
  ])
  const secret = secretOf(flags)
  for (let { after } = flags; ;) {
    const read = eventsAnswer.safeParse(must(await queryServer(flags.server, secret, `events ${after}`)))
    if (!read.success) stop({ code: 'CCPFS_NO_ANSWER', what: 'The answer of the server is not valid' })
    for (const { number, event } of read.data.events) {
      line(flags.json ? jsonText({ number, ...event }) : plain(`${number} ${JSON.stringify(event)}`))
      after = number
    }
    if (read.data.last > after) continue
    if (!flags.follow) return
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS))
  }
}

interface ObserveFlags {
  readonly after: ReadonlyMap<number, number>
  readonly names: readonly number[]
}

function positions(text: string): ReadonlyMap<number, number> {
  if (!/^\d{1,10}:\d{1,15}(?:,\d{1,10}:\d{1,15}){0,63}$/.test(text)) throw new InvalidArgumentError('PID:NUMBER, …')
  return new Map(text.split(',').map((one) => one.split(':').map(Number) as [number, number]))
}

function resourceList(text: string): number[] {
  if (!/^\d{1,15}(?:,\d{1,15}){0,199}$/.test(text)) throw new InvalidArgumentError('At most 200 resources.')
  return text.split(',').map(Number)
}

async function observeAll({ after, names }: ObserveFlags): Promise<void> {
  const { observe } = await import('../ccpfs/observe.ts')
  line(jsonText(must(await observe({ after, names }))))
}

const withSecret = (command: Command): Command =>
  command
    .option('--key-file <file>', 'key that both sides have, for peers on other machines (sluice ccpfs key)')
    .option('--tls-ca <file>', 'CA of all certificates, instead of a key')
    .option('--tls-cert <file>', 'certificate of this process')
    .option('--tls-key <file>', 'private key of the certificate')

export function ccpfsCommand(): Command {
  const ccpfs = new Command('ccpfs')
    .description('ccPFS, a file system on the SeqDLM lock manager: servers, clients and their state')
    .showHelpAfterError('(see sluice ccpfs --help)')
    .exitOverride()
    .enablePositionalOptions()
  withSecret(ccpfs.command('server'))
    .description('run a lock and data server')
    .option('--listen <address>', 'address for clients: an absolute path or host:port', address, {
      path: serverSocket(),
    })
    .requiredOption('--data <folder>', 'folder of objects, extent log and state')
    .addOption(new Option('--locks <name>', 'lock manager').choices(Object.keys(LOCK_MANAGERS)).default('seqdlm'))
    .option('--evict-seconds <n>', 'time to release a revoked lock before eviction', whole(1, 86_400), 100)
    .option('--recovery-seconds <n>', 'time for clients to return after a restart', whole(1, 86_400), 15)
    .option('--cache-entries <n>', 'entries of the extent cache before cleaning starts', whole(1, 1e9))
    .option('--sync-writes', 'answer a flush only when its data are on stable storage')
    .action((flags: ServerFlags) => server(flags))
  withSecret(ccpfs.command('meta'))
    .description('run the metadata server: names, layouts, open files')
    .option('--listen <address>', 'address for clients: an absolute path or host:port', address, { path: metaSocket() })
    .requiredOption('--data <folder>', 'folder of the database')
    .option('--servers <list>', 'addresses of the lock and data servers, in a fixed order', addresses, [serverSocket()])
    .option('--stripes <n>', 'stripes of new files', whole(1, 1024), 1)
    .option('--stripe-kb <n>', 'stripe size of new files, KiB, a multiple of 4', whole(4, 1 << 20), 1024)
    .action((flags: MetaFlags) => meta(flags))
  withSecret(ccpfs.command('client'))
    .description('run the client daemon of this node')
    .option('--meta <address>', 'metadata server', address, { path: metaSocket() })
    .option('--socket <path>', 'socket for local programs', absolute, clientSocket())
    .option('--flush-mb <n>', 'dirty data above which flushing starts, MiB', whole(1, 1 << 20), 64)
    .option('--dirty-mb <n>', 'dirty data above which writers wait, MiB', whole(1, 1 << 20), 512)
    .option('--clean-mb <n>', 'clean data that are cached, MiB', whole(0, 1 << 20), 512)
    .option('--flush-seconds <n>', 'oldest age of dirty data before they are flushed, 0 = any', whole(0, 86_400), 5)
    .action((flags: ClientFlags) => client(flags))
  withSecret(ccpfs.command('status'))
    .description('print the state of a daemon (default: the client daemon of this node)')
    .option('--server <address>', 'a lock and data server', address)
    .option('--meta <address>', 'the metadata server', address)
    .option('--client <socket>', 'a client daemon', absolute)
    .option('--json', 'one line of JSON')
    .action((flags: QueryFlags) => status(flags))
  withSecret(ccpfs.command('events'))
    .description('print the latest lock events of a server, one a line')
    .option('--server <address>', 'lock and data server', address, { path: serverSocket() })
    .option('--after <n>', 'number of the last known event', whole(0, 1e12), 0)
    .option('--follow', 'continue with new events')
    .option('--json', 'one JSON document a line')
    .action((flags: EventFlags) => events(flags))
  ccpfs.addCommand(ccpfsRunCommand())
  ccpfs.addCommand(benchCommand())
  ccpfs
    .command('list')
    .description('print the servers of this user here: kind, process, address')
    .action(() => {
      for (const { kind, pid, address: at } of must(listedDaemons())) line(plain(`${kind} ${pid} ${at}`))
    })
  ccpfs
    .command('observe')
    .description(
      'print states, new lock events and file names of all servers of this user here, as JSON (read by the console)',
    )
    .option('--after <list>', 'PID:NUMBER of the last known event of each server', positions, new Map())
    .option('--names <list>', 'other resources to name', resourceList, [])
    .action((flags: ObserveFlags) => observeAll(flags))
  ccpfs.addCommand(benchProcessCommand(), { hidden: true })
  ccpfs
    .command('key')
    .description('write a new key for daemons on different machines, mode 0600')
    .argument('<file>')
    .action((file: string) => line(must(writeKey(file))))
  return ccpfs
}

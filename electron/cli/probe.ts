/**
 * `sluice probe HOST…`: connects, runs the read-only checklist, and reports the role of each host and the cost of reading it.
 *
 * Exit codes: 0 done, 1 failed, 2 usage, 3 host key, 4 authentication, 5 partial, 6 outcome of a command unknown.
 */
import { resolve } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { serverInput, type CheckStep, type ServerInput } from '#core/api/clusters.ts'
import type { Failure } from '#core/base/result.ts'
import type { DiscoveryFailure } from '../cluster/remote/facts.ts'
import { measureReadings } from '../cluster/discovery/reading-cost.ts'
import { failedStep } from '../cluster/live/connection-steps.ts'
import { LiveServer, namesOf } from '../cluster/live/live-server.ts'
import { SshAccess } from '../cluster/live/ssh-access.ts'
import { exitCodeOf } from '../ssh/failures.ts'
import { isHostName, isUserName, parsePort } from '../ssh/names.ts'
import { addClustersFlags, flagsOf, sshOptions } from './clusters-flags.ts'
import { EXIT, line, stop } from './output.ts'
import { beganLine, endedLines, foundLines, missingTargets, probedJson, type Probed } from './probe-report.ts'

interface ProbeFlags {
  readonly identity?: string
  readonly port?: number
  readonly user?: string
  readonly jump?: string
  readonly json?: true
  readonly cost: boolean
}

/** Most hosts that are probed in parallel. */
const AT_ONCE = 8
const HOSTS_MOST = 512

const portOf = (text: string): number => {
  const port = parsePort(text)
  if (port === undefined) throw new InvalidArgumentError('A number from 1 to 65535.')
  return port
}

const userOf = (text: string): string => {
  if (!isUserName(text)) throw new InvalidArgumentError('Letters, digits, dots, dashes and underscores.')
  return text
}

/** Parses `[USER@]HOST[:PORT]`; its parts take precedence over the flags. */
function inputOf(text: string, f: ProbeFlags): ServerInput {
  const [, user, host = '', port] = /^(?:([^@]*)@)?([^@:]*)(?::(\d+))?$/.exec(text) ?? []
  const number = port === undefined ? f.port : parsePort(port)
  if (!isHostName(host) || (user !== undefined && !isUserName(user)) || (port !== undefined && number === undefined)) {
    const why = 'a host is [user@]name[:port], of letters, digits, dots, dashes and underscores'
    stop({ code: 'USAGE', what: `${text} is not a host`, why }, EXIT.usage)
  }
  return serverInput.parse({
    host,
    port: number ?? null,
    user: user ?? f.user ?? '',
    identity: f.identity === undefined ? '' : resolve(f.identity),
    jump: f.jump ?? null,
  })
}

/** Prints each step as it begins and as it ends. */
function followSteps(server: LiveServer): void {
  const seen = new Map<CheckStep['id'], { state: CheckStep['state']; commands: number }>()
  server.onChange(() => {
    for (const s of server.steps) {
      const last = seen.get(s.id) ?? { state: 'next', commands: 0 }
      const commands = s.command === '' ? [] : s.command.split('\n')
      const isEnd = s.state !== 'next' && s.state !== 'now'
      if (s.state === 'now') for (const c of commands.slice(last.commands)) line(beganLine(server.host, s, c))
      if (isEnd && last.state !== s.state) endedLines(server.host, s).forEach(line)
      seen.set(s.id, { state: s.state, commands: s.state === 'next' ? 0 : commands.length })
    }
  })
}

function failureOf(server: LiveServer): Failure | undefined {
  const { state, refusal, facts } = server
  if (state.kind === 'refused' || state.kind === 'lost') return state.failure
  if (refusal) return refusal
  if (state.kind !== 'connected' || !facts) {
    return {
      code: 'SSH_LOST',
      what: `The connection to ${server.host} was lost`,
      why: 'it ended before the checklist did',
    }
  }
  return undefined
}

async function probe(server: LiveServer, flags: ProbeFlags): Promise<Probed> {
  if (flags.json !== true) followSteps(server)
  await server.bring()
  const failure = failureOf(server)
  const refused: (Failure & Partial<DiscoveryFailure>) | undefined = server.refusal
  const facts = server.facts ?? refused?.facts
  if (failure || !facts || !flags.cost) return { server, facts, costs: [], failure }
  const costs = await measureReadings((c) => server.exec(c), facts.roles)
  return costs.ok ? { server, facts, costs: costs.value, failure } : { server, facts, costs: [], failure: costs.error }
}

/** Probes AT_ONCE hosts at a time and reports each one when it is done; returns results in the order given. */
async function probeAll(servers: readonly LiveServer[], flags: ProbeFlags): Promise<Probed[]> {
  const done: Probed[] = []
  const waiting = servers.map((server, i) => ({ server, i }))
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) done[next.i] = await probe(next.server, flags)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return done
}

/** Exit code for all hosts together. */
function exitOf(all: readonly Probed[]): number {
  const codes = all.map(({ failure }) => (failure ? exitCodeOf(failure) : EXIT.done))
  const [first = EXIT.failed] = codes
  if (codes.every((c) => c === first)) return first
  return codes.includes(EXIT.done) ? EXIT.partial : EXIT.failed
}

async function run(hosts: readonly string[], _options: unknown, command: Command): Promise<void> {
  const flags = { ...flagsOf(command), ...command.opts<ProbeFlags>() }
  if (hosts.length > HOSTS_MOST) {
    stop({ code: 'USAGE', what: `There are more than ${HOSTS_MOST} hosts` }, EXIT.usage)
  }
  const inputs = hosts.map((h) => inputOf(h, flags))
  const access = new SshAccess(sshOptions(flags, false))
  const names = namesOf(inputs)
  const servers = inputs.map((input, i) => new LiveServer(input, access, names[i]))
  for (const s of ['SIGINT', 'SIGTERM'] as const) process.once(s, () => (access.stop(), process.exit(EXIT.failed)))
  const all = await probeAll(servers, flags)
  const missing = missingTargets(all)
  for (const p of all) {
    if (flags.json === true) line(probedJson(p))
    else foundLines(p).forEach(line)
    if (p.failure) process.stderr.write(`sluice: ${endedLines(p.server.host, lastStep(p)).join('\n')}\n`)
  }
  if (missing.length > 0) {
    process.stderr.write(
      `sluice: the MGS has targets that none of these hosts serves: ${missing.slice(0, 50).join(', ')}\n`,
    )
  }
  access.stop()
  process.exitCode = exitOf(all)
}

/** Represents the failure as the last step: one line for terminals and logs, with the fingerprint of an unknown key. */
const lastStep = ({ server, failure }: Probed): CheckStep => ({
  // Id of the failed checklist step; for a connection failure, derived from its code.
  id:
    server.steps.find((s) => s.state === 'bad' || s.state === 'you')?.id ?? (failure ? failedStep(failure) : 'config'),
  state: 'bad',
  command: '',
  tookMs: null,
  fix: failure?.next?.split('\n')[0] ?? '',
  detail: `${failure?.code ?? ''}: ${failure?.what ?? ''}${failure?.why === undefined ? '' : `: ${failure.why}`}`,
})

const HELP = `
Read-only: commands are printed before they are sent. ~/.ssh/config and known_hosts are used and never written.
--json: one JSON line per host, in the order of the command line.`

export function probeCommand(): Command {
  const command = new Command('probe')
    .description('probe servers over SSH: their role, and the cost of reading them')
    .argument('<host...>', '[user@]name[:port]; a host name, or a name in ~/.ssh/config')
    .option('-i, --identity <file>', 'private key')
    .option('-p, --port <n>', 'port', portOf)
    .option('-u, --user <name>', 'login', userOf)
    .option(
      '-J, --jump <hosts>',
      'jump hosts, user@host:port, separated by commas; empty: none, regardless of ~/.ssh/config',
    )
    .option('--json', 'one JSON line per host')
    .option('--no-cost', 'do not measure the cost of a reading')
    .addHelpText('after', HELP)
    .action(run)
  return addClustersFlags(command)
}

/** Programs that report on the node itself: its clock, kernel, processors and user. */
import type { ByteText } from '../lustre/text.ts'
import { utc } from './calendar.ts'
import { done, exitWith, type ExecResult, type Program } from './exec.ts'
import type { NodeUser } from './lctl/host.ts'

const RELEASE = '5.14.0-427.31.1_lustre.el9.x86_64'
const NS_PER_CENTISECOND = 10_000_000

/** Clocks of a node. */
export interface NodeClock {
  /** Simulation time, ns. */
  nowNs(): number
  unixNs(): bigint
  /** Time since its boot, ns. */
  upNs(): number
}

/** `/proc/uptime` of a node whose processors are otherwise idle. */
export function uptime(clock: NodeClock, processors: number): ByteText {
  const text = (ns: number): string => (Math.floor(ns / NS_PER_CENTISECOND) / 100).toFixed(2)
  return `${text(clock.upNs())} ${text(clock.upNs() * processors)}\n`
}

/** `date [-u] [+FORMAT]` with the sequences that Sluice uses; a node's time zone is UTC. */
function runDate(args: readonly string[], clock: NodeClock): ExecResult {
  const rest = args[0] === '-u' ? args.slice(1) : args
  const [format = '+%a %b %e %H:%M:%S %Z %Y'] = rest
  if (rest.length > 1) return exitWith(1, `date: extra operand '${rest[1] ?? ''}'\n`)
  if (!format.startsWith('+')) return exitWith(1, `date: invalid date '${format}'\n`)
  const unixNs = clock.unixNs()
  const { weekday, monthName, day, date, time } = utc(Number(unixNs / 1_000_000_000n))
  const parts: Readonly<Record<string, string>> = {
    s: String(unixNs / 1_000_000_000n),
    N: String(unixNs % 1_000_000_000n).padStart(9, '0'),
    F: date,
    T: time,
    Y: date.slice(0, 4),
    m: date.slice(5, 7),
    d: date.slice(8, 10),
    e: String(day).padStart(2, ' '),
    H: time.slice(0, 2),
    M: time.slice(3, 5),
    S: time.slice(6, 8),
    a: weekday,
    b: monthName,
    Z: 'UTC',
    z: '+0000',
    n: '\n',
    '%': '%',
  }
  const unknown = [...format.matchAll(/%(.)/gs)].find(([, c]) => !Object.hasOwn(parts, c ?? ''))
  if (unknown) return exitWith(1, `date: ${unknown[0]} is not known to this emulated shell\n`)
  return done(`${format.slice(1).replace(/%(.)/gs, (_, c: string) => parts[c] ?? '')}\n`)
}

function uname(args: readonly string[], hostname: string): ExecResult {
  const letters = args.length === 0 ? 's' : args.map((a) => a.slice(1)).join('')
  const fields: Readonly<Record<string, string>> = { s: 'Linux', n: hostname, r: RELEASE, m: 'x86_64' }
  const wrong = args.find((a) => !/^-[snrm]+$/.test(a))
  if (wrong !== undefined) return exitWith(1, `uname: ${wrong} is not known to this emulated shell\n`)
  const requested = Object.entries(fields).filter(([letter]) => letters.includes(letter))
  return done(`${requested.map(([, field]) => field).join(' ')}\n`)
}

function id({ name, uid }: NodeUser, args: readonly string[]): ExecResult {
  if (args.length === 0) return done(`uid=${uid}(${name}) gid=${uid}(${name}) groups=${uid}(${name})\n`)
  if (args.length === 1 && args[0] === '-u') return done(`${uid}\n`)
  if (args.length === 1 && args[0] === '-un') return done(`${name}\n`)
  return exitWith(1, 'id: only -u and -un are known to this emulated shell\n')
}

/** Commands take no time, so no process exists that could receive a signal. */
function kill(args: readonly string[]): ExecResult {
  const [, pid] = /^(?:-s \w+ |-\w+ )?(?:-- )?(-?\d{1,10})$/.exec(args.join(' ')) ?? []
  if (pid === undefined) return exitWith(2, 'kill: usage: kill [-s SIGNAL] [--] PID\n')
  return exitWith(1, `kill: (${pid}) - No such process\n`)
}

/** Tools of a node for one user. */
export function systemTools(
  { hostname, clock, processors }: { hostname: string; clock: NodeClock; processors: () => number },
  user: NodeUser,
): Record<string, Program> {
  return {
    hostname: (args) =>
      args.length === 0 || args[0] === '-s' ? done(`${hostname}\n`) : exitWith(1, 'hostname: only -s is known here\n'),
    whoami: () => done(`${user.name}\n`),
    id: (args) => id(user, args),
    date: (args) => runDate(args, clock),
    uname: (args) => uname(args, hostname),
    nproc: () => done(`${processors()}\n`),
    kill,
    true: () => done(),
    false: () => exitWith(1, ''),
    sleep: ([span = '']) =>
      /^0*(\.0*)?$/.test(span) && span !== ''
        ? done()
        : exitWith(1, 'sleep: a command line takes no time on this emulated node\n'),
  }
}

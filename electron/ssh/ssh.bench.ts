/**
 * One command on a real sshd on loopback, p50 of many in sequence: in the framed channel, by a separate channel, and
 * by one `ssh` process per command, in the same run.
 *
 * `ssh.channel` against `ssh` per command; `ssh.exec` likewise; `ssh.channel-exec`: the framed channel against an ssh2
 * exec, which it has to beat.
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Bench } from '../../bench/measure.ts'
import { execCommand } from './exec.ts'
import { Session } from './session.ts'
import { KeyRing } from './private-key.ts'
import { handshake } from './handshake.ts'
import { LIMITS } from './limits.ts'
import { reachByTcp } from './reach.ts'
import { endpointOf, knowing, knownHostsFile } from '#tests/kits/electron/ssh/console.ts'
import { makeKey, me, noSshd, publicHalf, scratch, startSshd } from '#tests/kits/electron/ssh/sshd.ts'

const COMMAND = 'echo 1'
const COMMANDS = 60
const PROCESSES = 3
const IDLE_MS = 5000
const run = promisify(execFile)

type Clock = () => number

const p50 = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? 0

async function timed(now: Clock, times: number, one: () => Promise<unknown>): Promise<number> {
  const took: number[] = []
  for (let i = 0; i < times; i++) {
    const began = now()
    await one()
    took.push(now() - began)
  }
  return p50(took)
}

interface Parts {
  readonly session: Session
  readonly raw: () => Promise<unknown>
  readonly process: () => Promise<unknown>
  stop(): void
}

let parts: Promise<Parts> | undefined

async function make(): Promise<Parts> {
  const key = makeKey(join(scratch(), 'id'))
  const sshd = await startSshd({ authorized: [publicHalf(key)] })
  const hostKeys = knowing(sshd.knownLines())
  const endpoint = endpointOf(sshd.port, [key])
  const ring = new KeyRing()
  const session = new Session(hostKeys, endpoint, { ring, random: () => 0.5, reconnects: false })
  const connected = await session.connect()
  if (!connected.ok) throw new Error(connected.error.what)
  const { signal } = new AbortController()
  const stream = await reachByTcp(endpoint.host, endpoint.port, 5000, () => undefined, signal)
  if (!stream.ok) throw new Error(stream.error.what)
  const identities = { files: [key], isOnly: true }
  const plain = await handshake(
    { ...endpoint, hostKeys, identities, ring, limits: LIMITS, onStep: () => undefined, signal },
    stream.value,
  )
  if (!plain.ok) throw new Error(plain.error.what)
  const bounds = { timeoutMs: 10_000, stdoutBytes: 1e6, stderrBytes: 1e6 }
  const known = knownHostsFile(sshd.knownLines())
  const options = ['-F', 'none', '-o', `UserKnownHostsFile=${known}`, '-o', 'IdentitiesOnly=yes', '-o', 'BatchMode=yes']
  const args = [...options, '-i', key, '-p', String(sshd.port), `${me}@127.0.0.1`, COMMAND]
  return {
    session,
    raw: () => execCommand(plain.value.client, COMMAND, bounds),
    process: () => run('ssh', args),
    stop: () => {
      session.stop()
      plain.value.client.end()
      sshd.stop()
    },
  }
}

let idle: NodeJS.Timeout | undefined

/** Shared parts, stopped after some idle time: a bench does not know whether it is the last. */
function get(): Promise<Parts> {
  clearTimeout(idle)
  idle = setTimeout(() => {
    void parts?.then((p) => p.stop())
    parts = undefined
  }, IDLE_MS)
  return (parts ??= make())
}

const channel = async (now: Clock): Promise<number> => {
  const { session } = await get()
  return timed(now, COMMANDS, () => session.run(COMMAND))
}
const exec = async (now: Clock): Promise<number> => timed(now, COMMANDS, (await get()).raw)
const processes = async (now: Clock): Promise<number> => timed(now, PROCESSES, (await get()).process)

export const benches: readonly Bench[] =
  noSshd === ''
    ? [
        {
          id: 'ssh.channel',
          unit: 'ms',
          run: channel,
          baseline: processes,
          beside: 'one ssh process a command',
          note: 'a command in the framed channel of an open session',
          limit: 'a shell on the server starts the command; the rest is one turn over loopback',
        },
        {
          id: 'ssh.exec',
          unit: 'ms',
          run: exec,
          baseline: processes,
          beside: 'one ssh process a command',
          note: 'a command in a separate channel in an open session',
          limit: 'a channel is opened and closed, and the server starts a shell for it',
        },
        {
          id: 'ssh.channel-exec',
          unit: 'ms',
          run: channel,
          baseline: exec,
          beside: 'one SSH exec a command',
          note: 'the framed channel again',
        },
      ]
    : []

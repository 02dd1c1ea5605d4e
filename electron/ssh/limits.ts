/** Limits of a session: no action of a server, nor its silence, lasts forever. Times in ms. */
import type { Backoff } from './backoff.ts'

export interface SshLimits {
  /** Name lookup and TCP connect. */
  readonly connectMs: number
  /** Longest time from the first byte to completed key exchange. */
  readonly handshakeMs: number
  /** Longest authentication, without the time that a person takes for a passphrase, or to touch a key. */
  readonly authMs: number
  readonly keepaliveMs: number
  /** Missed answers before the connection counts as lost. */
  readonly keepaliveMisses: number
  /** Timeout of a command without its own deadline. */
  readonly commandMs: number
  readonly stdoutBytes: number
  readonly stderrBytes: number
  /** Longest time until the shell of the command channel has answered. */
  readonly shellMs: number
  /** Wait before a shell that was too slow is retried, with the time of a command. */
  readonly shellAgain: Backoff
  /** Concurrent channels of a connection; sshd allows 10. */
  readonly channels: number
  /** Commands that may wait in the queue. */
  readonly waiting: number
  readonly backoff: Backoff
  /** A connection that lasted this long resets the backoff. */
  readonly stableMs: number
}

export const LIMITS: SshLimits = {
  connectMs: 10_000,
  handshakeMs: 15_000,
  authMs: 30_000,
  keepaliveMs: 10_000,
  keepaliveMisses: 3,
  commandMs: 30_000,
  stdoutBytes: 64 << 20,
  stderrBytes: 1 << 20,
  shellMs: 5000,
  shellAgain: { baseMs: 5000, mostMs: 60_000 },
  channels: 8,
  waiting: 64,
  backoff: { baseMs: 1000, mostMs: 60_000 },
  stableMs: 10_000,
}

/** Longest command line: Linux accepts 128 KiB in one argument. */
export const COMMAND_BYTES = 120 << 10

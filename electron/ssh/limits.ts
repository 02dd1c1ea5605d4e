/** Bounds of a session: nothing that a server does, or does not do, goes on for ever. Times in ms. */
import type { Backoff } from './backoff.ts'

export interface SshLimits {
  /** Name lookup and TCP. */
  readonly connectMs: number
  /** From the first byte to agreed keys. */
  readonly handshakeMs: number
  /** Without the time that a person takes for a passphrase, or to touch a key. */
  readonly authMs: number
  readonly keepaliveMs: number
  /** Answers missed before the connection counts as lost. */
  readonly keepaliveMisses: number
  /** For a command that sets no time of its own. */
  readonly commandMs: number
  readonly stdoutBytes: number
  readonly stderrBytes: number
  /** Until the shell of the command channel has answered. */
  readonly shellMs: number
  /** Before a shell that was too slow is tried again, with the time of a command. */
  readonly shellAgain: Backoff
  /** Channels of a connection at once; sshd allows 10. */
  readonly channels: number
  /** Commands that may wait for their turn. */
  readonly waiting: number
  readonly backoff: Backoff
  /** A connection that held for this long starts the backoff anew. */
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

/** Longest command line: Linux takes 128 KiB in one word. */
export const COMMAND_BYTES = 120 << 10

/** One server's part of a commit as seen by the sending order: rules, or a policy change. */
import type { NodeConnection } from '../base/connection.ts'
import type { ServerEnd } from './server-change.ts'

/** Current step of a server during a commit. */
export type ServerStep = 'reading' | 'timer' | 'sending' | 'waiting for' | 'reading back' | 'rolling back'

export interface SendingParts {
  readonly node: NodeConnection
  /** Records commands before they are sent; false if that is not possible. */
  readonly record: (commands: readonly string[]) => boolean
  /** Records commands that only remove what was sent, or defers the record until it can be written. */
  readonly note: (commands: readonly string[]) => void
  /** Reason why nothing more may be sent; undefined while allowed. */
  readonly stop: () => string | undefined
  /** True after a global stop: a rollback then only removes rules and starts none. */
  readonly removesOnly: () => boolean
  readonly step: (step: ServerStep, done: number, detail?: string) => void
  /** Deadline of one command, and pauses before an unresponsive server is retried, wall ms. */
  readonly answerMs: number
  readonly pausesMs: readonly number[]
}

/** Sends to one server. */
export interface ServerSender {
  /** Checks that the server is unchanged since the plan was made; returns its end state if it is not. */
  unmoved(): Promise<ServerEnd | undefined>
  /** Sends everything and reads it back; undefined if equal to the plan, else the end state after the rollback. */
  send(): Promise<ServerEnd | undefined>
  readBack(): Promise<ServerEnd | undefined>
  /** Completes the change. */
  settle(): Promise<ServerEnd>
  rollBack(reason: string): Promise<ServerEnd>
}

export interface ServerTask {
  readonly host: string
  /** Literal commands, in order. */
  readonly commands: readonly string[]
  /** Number of commands that the progress counts. */
  readonly of: number
  begin(parts: SendingParts): ServerSender
}

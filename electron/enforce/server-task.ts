/** One server's part of a commit, as the order of sending sees it: rules, or a change of policy. */
import type { NodeConnection } from '../base/connection.ts'
import type { ServerEnd } from './server-change.ts'

/** What a server is doing while a change is sent. */
export type ServerStep = 'reading' | 'timer' | 'sending' | 'waiting for' | 'reading back' | 'rolling back'

export interface SendingParts {
  readonly node: NodeConnection
  /** Puts commands on record before they are sent; false when that is not possible. */
  readonly record: (commands: readonly string[]) => boolean
  /** Puts commands on record that only take away what was sent, or lets them wait for that. */
  readonly note: (commands: readonly string[]) => void
  /** Why nothing more may be sent; undefined while it may. */
  readonly stop: () => string | undefined
  /** Whether everything was stopped: a roll-back then removes and starts nothing. */
  readonly removesOnly: () => boolean
  readonly step: (step: ServerStep, done: number, detail?: string) => void
  /** Time that one command has, and pauses before a server that does not answer is asked again, wall ms. */
  readonly answerMs: number
  readonly pausesMs: readonly number[]
}

/** Sends to one server. */
export interface ServerSender {
  /** Whether the server still is what the plan was made on: the end where it is not. */
  unmoved(): Promise<ServerEnd | undefined>
  /** Sends everything and reads it back; undefined when it is as it must be, else the end after the roll-back. */
  send(): Promise<ServerEnd | undefined>
  readBack(): Promise<ServerEnd | undefined>
  /** The change stands. */
  settle(): Promise<ServerEnd>
  rollBack(reason: string): Promise<ServerEnd>
}

export interface ServerTask {
  readonly host: string
  /** The literal commands, in order. */
  readonly commands: readonly string[]
  /** How many of them the progress counts. */
  readonly of: number
  begin(parts: SendingParts): ServerSender
}

/**
 * Messages between main and the host process; the contract itself uses ports. Each side validates the other's messages with these
 * schemas and ignores those that do not match.
 */
import * as z from 'zod'
import { commandId, menuModel, powerEvent } from '#core/api/shell.ts'
import { ANSWER_MOST, foreignTask } from '#electron/foreign/task.ts'

const failure = z.object({
  code: z.string().max(100),
  what: z.string().max(2000),
  why: z.string().max(4000).optional(),
  unaffected: z.string().max(2000).optional(),
  next: z.string().max(2000).optional(),
})
const number = z.number().int().nonnegative()
const path = z.string().min(1).max(4096)
/** A passphrase has at most 1024 characters. */
const secret = z.string().max(8192)

/** Requests of the host to main, with an answer. */
export const hostRequest = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('save'), name: z.string().min(1).max(200) }),
  z.object({ kind: z.literal('link'), url: z.string().max(2000) }),
  z.object({ kind: z.literal('keychain') }),
  z.object({ kind: z.literal('seal'), text: secret }),
  z.object({ kind: z.literal('open'), sealed: z.string().max(32_768) }),
  /** Reads an untrusted file in a process that can be killed. */
  z.object({ kind: z.literal('foreign'), task: foreignTask }),
])
export type HostRequest = z.infer<typeof hostRequest>
/** Requests that only the desktop can serve. */
export type NativeRequest = Exclude<HostRequest, { kind: 'foreign' }>

/** Main's answers by request; any of them may be a failure instead. */
export const answers = {
  save: z.object({ path: path.nullable() }),
  link: z.object({}),
  keychain: z.object({ can: z.boolean(), why: z.string().max(500) }),
  seal: z.object({ sealed: z.string().max(32_768) }),
  open: z.object({ text: secret }),
  foreign: z.object({ text: z.string().max(ANSWER_MOST) }),
} as const
export type Answers = { readonly [K in keyof typeof answers]: z.infer<(typeof answers)[K]> }

/** Events of the desktop. */
export const shellEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('command'), id: commandId }),
  z.object({ kind: z.literal('power'), what: powerEvent }),
  z.object({ kind: z.literal('notification'), id: z.string().max(64) }),
  z.object({ kind: z.literal('focus'), isFocused: z.boolean() }),
])

/** Main to host: `connect` carries the port of a window. */
export const toHost = z.discriminatedUnion('type', [
  z.object({ type: z.literal('connect') }),
  z.object({ type: z.literal('close') }),
  z.object({ type: z.literal('told'), told: shellEvent }),
  z.object({ type: z.literal('answer'), number, failure: failure.nullable(), value: z.unknown().optional() }),
])
export type ToHost = z.infer<typeof toHost>

/** Host to main. After `failed` or `closed` the host process ends by itself. */
export const fromHost = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('failed'), failure }),
  z.object({ type: z.literal('closed') }),
  z.object({ type: z.literal('ask'), number, ask: hostRequest }),
  z.object({
    type: z.literal('notify'),
    notification: z.object({ id: z.string().max(64), title: z.string().max(100), body: z.string().max(400) }),
  }),
  z.object({ type: z.literal('menu'), menu: menuModel }),
])
export type FromHost = z.infer<typeof fromHost>

/** Files for the host process to open, passed as one JSON argument. */
export interface HostArguments {
  readonly historyFile: string
  readonly scenarioFile?: string
}

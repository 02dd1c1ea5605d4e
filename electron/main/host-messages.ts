/**
 * What main and the host's process say to each other; the contract itself goes through ports. Each side reads what the other one says by
 * these schemas: what fits none of them is not heard.
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

/** What the host asks main for and waits for. */
export const hostAsk = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('save'), name: z.string().min(1).max(200) }),
  z.object({ kind: z.literal('link'), url: z.string().max(2000) }),
  z.object({ kind: z.literal('keychain') }),
  z.object({ kind: z.literal('seal'), text: secret }),
  z.object({ kind: z.literal('open'), sealed: z.string().max(32_768) }),
  /** To read a file from elsewhere in a process that can be ended. */
  z.object({ kind: z.literal('foreign'), task: foreignTask }),
])
export type HostAsk = z.infer<typeof hostAsk>
/** What only the desktop can do. */
export type NativeAsk = Exclude<HostAsk, { kind: 'foreign' }>

/** Main's answer to each; a failure stands for any of them. */
export const answers = {
  save: z.object({ path: path.nullable() }),
  link: z.object({}),
  keychain: z.object({ can: z.boolean(), why: z.string().max(500) }),
  seal: z.object({ sealed: z.string().max(32_768) }),
  open: z.object({ text: secret }),
  foreign: z.object({ text: z.string().max(ANSWER_MOST) }),
} as const
export type Answers = { readonly [K in keyof typeof answers]: z.infer<(typeof answers)[K]> }

/** What happened around the host. */
export const shellTold = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('command'), id: commandId }),
  z.object({ kind: z.literal('power'), what: powerEvent }),
  z.object({ kind: z.literal('notification'), id: z.string().max(64) }),
  z.object({ kind: z.literal('focus'), isFocused: z.boolean() }),
])

/** Main to host: a port for a window comes with `connect`. */
export const toHost = z.discriminatedUnion('type', [
  z.object({ type: z.literal('connect') }),
  z.object({ type: z.literal('close') }),
  z.object({ type: z.literal('told'), told: shellTold }),
  z.object({ type: z.literal('answer'), number, failure: failure.nullable(), value: z.unknown().optional() }),
])
export type ToHost = z.infer<typeof toHost>

/** Host to main. After `failed` or `closed` the host's process ends by itself. */
export const fromHost = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('failed'), failure }),
  z.object({ type: z.literal('closed') }),
  z.object({ type: z.literal('ask'), number, ask: hostAsk }),
  z.object({
    type: z.literal('notify'),
    notification: z.object({ id: z.string().max(64), title: z.string().max(100), body: z.string().max(400) }),
  }),
  z.object({ type: z.literal('menu'), menu: menuModel }),
])
export type FromHost = z.infer<typeof fromHost>

/** How main tells the host's process what to open: one JSON argument. */
export interface HostArguments {
  readonly historyFile: string
  readonly scenarioFile?: string
}

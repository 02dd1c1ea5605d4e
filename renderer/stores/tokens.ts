/**
 * Haechi's tokens in this window: which data node and span it looks at, what is selected and typed, and the verbs that
 * change a node. Kept while another view is on screen, so that nothing typed is lost.
 */
import { defineStore } from 'pinia'
import { ref, shallowRef } from 'vue'
import type { Notice } from '#core/api/frames.ts'
import type { TokensAdmission, TokensChange, TokensFrame, TokensReserve, TokensSpan } from '#core/api/tokens.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'
import { useSelectionStore } from './selection.ts'

const NOT_CHANGED = 'The data node was not changed'
const NOT_RESERVED = 'The reservation was not changed'
const NOT_CHECKED = 'Admission was not asked'
/** Longest that a frame from before a change may still be on its way: it holds from the next period on. */
const UNDER_WAY_MS = 3000

export type InspectorTab = 'client' | 'events' | 'terms'
export const tokensSorts = [
  'name',
  'used',
  'reservation',
  'left',
  'held',
  'yielded',
  'queued',
  'missed',
  'iops',
] as const
export type TokensSort = (typeof tokensSorts)[number]

/** What was typed for one client, as text: also what cannot be. */
export interface ReserveDraft {
  readonly reservation: string
  readonly limit: string
}
type Settings = Omit<TokensChange, 'node'>

/** The frame with what the host has agreed to already in it. */
export function withSettings(frame: TokensFrame, node: string, settings: Settings): TokensFrame {
  if (frame.node !== node) return frame
  const { variant = frame.variant, preset = frame.preset } = settings
  return { ...frame, variant, preset }
}

export const useTokensStore = defineStore('tokens', () => {
  const [connection, selection] = [useConnectionStore(), useSelectionStore()]
  /** Empty: the first that the source has. */
  const node = ref('')
  const span = ref<TokensSpan>('period')
  /** Of the clients that are listed. */
  const filter = ref('')
  /** Key of the selected client; empty = none. */
  const client = ref('')
  const sort = ref<TokensSort>('name')
  const descending = ref(false)
  /** Tab of the open inspector; null = closed. */
  const inspector = ref<InspectorTab | null>(null)
  /** Key of the client whose reservation is being edited. */
  const editing = ref<string | null>(null)
  const drafts = shallowRef<ReadonlyMap<string, ReserveDraft>>(new Map())
  /** Why the last change of the node was refused. */
  const notice = shallowRef<Notice | null>(null)

  /** @param jobId  of the client, or empty: it becomes the selection of the window. */
  function select(key: string, jobId: string): void {
    client.value = key
    if (jobId !== '') selection.select(jobId)
    else selection.choose('client', key)
  }
  // Esc ends every selection, this one too.
  selection.$onAction(({ name }) => {
    if (name !== 'clear') return
    client.value = ''
    inspector.value = null
  })
  /** Sorts by a column; a second time turns the order. Names start upwards, numbers with the largest. */
  function sortBy(column: TokensSort): void {
    if (sort.value === column) descending.value = !descending.value
    else {
      sort.value = column
      descending.value = column !== 'name'
    }
  }
  /** Another node has other clients. */
  function show(next: string): void {
    if (next === node.value) return
    node.value = next
    client.value = ''
    editing.value = null
  }
  /** Drafts are of a client of a node: names may be the same on two nodes. */
  const draftKey = (on: string, key: string): string => JSON.stringify([on, key])
  const draftOf = (on: string, key: string): ReserveDraft | null => drafts.value.get(draftKey(on, key)) ?? null
  function keep(on: string, key: string, draft: ReserveDraft | null): void {
    const next = new Map(drafts.value)
    if (draft === null) next.delete(draftKey(on, key))
    else next.set(draftKey(on, key), draft)
    drafts.value = next
  }

  const agreed = shallowRef<{ node: string; settings: Settings; untilMs: number } | null>(null)
  async function change(on: string, settings: Settings): Promise<boolean> {
    try {
      if (connection.host === null) {
        notice.value = noHost(NOT_CHANGED)
        return false
      }
      await connection.host.api.tokens.change({ node: on, ...settings })
      const before = agreed.value?.node === on ? agreed.value.settings : {}
      agreed.value = { node: on, settings: { ...before, ...settings }, untilMs: Date.now() + UNDER_WAY_MS }
      notice.value = null
      return true
    } catch (error) {
      notice.value = refusal(NOT_CHANGED, error)
      return false
    }
  }
  /** A new frame has come: what was agreed to longer ago is in it, or has been undone since. */
  function arrived(): void {
    if (agreed.value !== null && Date.now() > agreed.value.untilMs) agreed.value = null
  }
  const settled = (frame: TokensFrame): TokensFrame =>
    agreed.value === null ? frame : withSettings(frame, agreed.value.node, agreed.value.settings)

  /** What admission says to it; a notice where it could not be asked. */
  async function check(asked: TokensReserve): Promise<TokensAdmission | Notice> {
    try {
      return connection.host === null ? noHost(NOT_CHECKED) : await connection.host.api.tokens.check(asked)
    } catch (error) {
      return refusal(NOT_CHECKED, error)
    }
  }
  /** null: it holds from the next period on. */
  async function reserve(asked: TokensReserve): Promise<Notice | null> {
    try {
      if (connection.host === null) return noHost(NOT_RESERVED)
      await connection.host.api.tokens.reserve(asked)
      return null
    } catch (error) {
      return refusal(NOT_RESERVED, error)
    }
  }

  return {
    ...{ node, span, filter, client, sort, descending, inspector, editing, drafts, notice },
    ...{ select, sortBy, show, draftOf, keep, change, arrived, settled, check, reserve },
  }
})

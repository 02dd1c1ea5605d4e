/** Kept convoys of the range, with the lock lifetimes and messages by which the page shows them lock by lock. */
import { locksFrame } from '#core/api/locks.ts'
import { plainText } from '#core/base/plain-text.ts'
import {
  CONVOYS_MOST,
  LIVES_MOST,
  MESSAGES_MOST,
  type ReplayConvoy,
  type ReplayData,
} from '#core/snapshot/replay-data.ts'
import type { HistoryReader, KeptConvoy } from '../../history/reader.ts'

/** Convoys of which the longest are taken: those of ten days. */
const READ_MOST = 200
/** As the window shows a resource. */
const resource = locksFrame.shape.resource.unwrap()
const TEXT_MOST = 512

const text = (of: string): string => plainText(of.slice(0, TEXT_MOST))

function convoyOf(
  reader: HistoryReader,
  { id, resource: name, server, fromMs, toMs, waiting }: KeptConvoy,
): ReplayConvoy {
  const read = resource.safeParse(reader.convoyFrame(id))
  const lives: ReplayConvoy['lives'] = { client: [], job: [], mode: [], asked: [], granted: [], released: [] }
  const messages: ReplayConvoy['messages'] = { sent: [], arrived: [], client: [], isUp: [], text: [] }
  const head = { resource: text(name), server: text(server), fromMs, toMs, waiting }
  if (!read.success) return { ...head, lives, livesMore: 0, messages, messagesMore: 0 }
  const of = read.data
  // Times of the frame are from the start of its range.
  const shiftMs = of.moment.endMs - of.moment.spanMs - fromMs
  const at = (ms: number | null | undefined): number | null =>
    ms === null || ms === undefined ? null : Math.round((ms + shiftMs) * 1000) / 1000
  const clientOf = (i: number | undefined) => of.clients.find((c) => c.number === i)
  const livesShown = Math.min(LIVES_MOST, of.lives.id.length)
  for (let i = 0; i < livesShown; i++) {
    const client = clientOf(of.lives.client[i])
    lives.client.push(text(client?.name ?? ''))
    lives.job.push(text(client?.jobId ?? ''))
    lives.mode.push(of.lives.mode[i] ?? '')
    lives.asked.push(at(of.lives.asked[i]))
    lives.granted.push(at(of.lives.granted[i]))
    lives.released.push(at(of.lives.released[i]))
  }
  const messagesShown = Math.min(MESSAGES_MOST, of.messages.sent.length)
  for (let i = 0; i < messagesShown; i++) {
    messages.sent.push(at(of.messages.sent[i]) ?? 0)
    messages.arrived.push(at(of.messages.arrived[i]))
    messages.client.push(text(clientOf(of.messages.client[i])?.name ?? ''))
    messages.isUp.push(of.messages.isUp[i] ?? false)
    messages.text.push(text(of.messages.text[i] ?? ''))
  }
  return {
    ...head,
    lives,
    livesMore: of.lives.id.length - livesShown + of.moreLives,
    messages,
    messagesMore: of.messages.sent.length - messagesShown + of.moreMessages,
  }
}

export function replayConvoys(
  reader: HistoryReader,
  fromMs: number,
  lastMs: number,
): Pick<ReplayData, 'convoys' | 'convoysMore'> {
  const all = reader.convoys(fromMs, lastMs, READ_MOST)
  const longest = all
    .toSorted((a, b) => b.toMs - b.fromMs - (a.toMs - a.fromMs) || a.id - b.id)
    .slice(0, CONVOYS_MOST)
    .sort((a, b) => a.fromMs - b.fromMs || a.id - b.id)
  return { convoys: longest.map((convoy) => convoyOf(reader, convoy)), convoysMore: all.length - longest.length }
}

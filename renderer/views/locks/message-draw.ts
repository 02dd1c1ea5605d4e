/**
 * Sequence chart of messages: a row for each client, one for the server, a column for each message in order of time.
 * Locks that a client holds or waits for are drawn in its row; messages to come are pale.
 */
import type { Palette } from '../../theme/palette.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatNumber } from '../../format/units.ts'
import { modeAt, modeInk, phaseAt, type Life } from './lock-lifetimes.ts'
import { cutText, hatchBox, type Context } from './plot-parts.ts'
import { isData, kindName, type Message } from './replay.ts'

export interface MessagePicture {
  readonly width: number
  readonly height: number
  readonly left: number
  readonly clients: readonly { readonly number: number; readonly name: string }[]
  readonly server: string
  readonly messages: readonly Message[]
  readonly lives: readonly Life[]
  readonly index: number
  /** Progress of the current message on its way, 0..1. */
  readonly progress: number
  readonly decimals: number
}
const COLUMN_PX = 58
const HEAD_PX = 20
const SERVER_PX = 30
const COMING = 0.35

/** Index of the first message drawn; the current one is right of the middle, so that its predecessors are visible. */
export function firstColumn(picture: MessagePicture): number {
  const columns = columnCount(picture)
  const first = Math.max(0, picture.index) - Math.floor(columns * 0.6)
  return Math.max(0, Math.min(first, picture.messages.length - columns))
}
const columnCount = ({ width, left }: MessagePicture): number =>
  Math.max(1, Math.floor((width - left - 14) / COLUMN_PX))

const rowHeight = ({ height, clients }: MessagePicture): number =>
  Math.max(5, Math.min(34, (height - HEAD_PX - SERVER_PX) / Math.max(1, clients.length)))

/** Index of the message at x; -1 if none. */
export function columnAt(picture: MessagePicture, x: number): number {
  const at = firstColumn(picture) + Math.floor((x - picture.left) / COLUMN_PX)
  return x < picture.left || at >= picture.messages.length ? -1 : at
}

export function drawMessages(c: Context, p: Palette, picture: MessagePicture): void {
  const { messages, clients, left, index, width } = picture
  const row = rowHeight(picture)
  const serverY = HEAD_PX + row * clients.length + SERVER_PX / 2
  const first = firstColumn(picture)
  const shown = messages.slice(first, first + columnCount(picture))
  const x = (i: number): number => left + (i - first + 0.5) * COLUMN_PX
  const y = (lane: number): number => HEAD_PX + (lane + 0.5) * row

  if (index >= first) {
    c.fillStyle = p.accent
    c.globalAlpha = 0.1
    c.fillRect(x(index) - COLUMN_PX / 2, 0, COLUMN_PX, serverY + SERVER_PX / 2)
    c.globalAlpha = 1
  }
  const busy = new Set(shown.map(({ lane }) => lane))
  c.textAlign = 'right'
  clients.forEach((client, lane) => {
    c.fillStyle = p.grid
    c.fillRect(left, Math.round(y(lane)), width - left - 14, 1)
    // In low rows, only clients of the drawn messages keep their names.
    if (row < 13 && !busy.has(lane)) return
    c.font = `11px ${p['font-ui']}`
    c.fillStyle = messages[index]?.lane === lane ? p['text-1'] : p['text-3']
    c.fillText(cutText(c, plainText(client.name), left - 14), left - 8, y(lane) + 4)
  })
  c.fillStyle = p.axis
  c.fillRect(left, Math.round(serverY) - 1, width - left - 14, 3)
  c.font = `600 11px ${p['font-ui']}`
  c.fillStyle = p['text-1']
  c.fillText(cutText(c, plainText(picture.server), left - 14), left - 8, serverY + 4)

  shown.forEach((message, k) => {
    const i = first + k
    drawStates(c, p, picture, message.sent, x(i) - COLUMN_PX / 2, y, Math.max(3, Math.min(11, row * 0.5)), i > index)
  })
  shown.forEach((message, k) => {
    const i = first + k
    c.globalAlpha = i > index ? COMING : 1
    drawMessage(c, p, picture, message, { x: x(i), from: y(message.lane), to: serverY, isNow: i === index, row })
    c.globalAlpha = 1
  })
}

/** Draws the held and waited-for lock of each client at the time of each message, as a piece of its row. */
function drawStates(
  c: Context,
  p: Palette,
  { lives, clients }: MessagePicture,
  t: number,
  x: number,
  y: (lane: number) => number,
  height: number,
  isComing: boolean,
): void {
  const laneOf = new Map(clients.map(({ number }, i) => [number, i]))
  const waits = new Set<number>()
  const holds = new Map<number, { life: Life; isGranted: boolean }>()
  for (const life of lives) {
    const lane = laneOf.get(life.client)
    const phase = phaseAt(life, t)
    if (lane === undefined || phase === 'future' || phase === 'gone') continue
    if (phase === 'waiting') waits.add(lane)
    // Of several locks the newest granted one; else the newest canceling one.
    else if (phase === 'granted' || !holds.get(lane)?.isGranted)
      holds.set(lane, { life, isGranted: phase === 'granted' })
  }
  const pale = isComing ? COMING : 1
  for (const lane of new Set([...waits, ...holds.keys()])) {
    const hold = holds.get(lane)
    const top = y(lane) - height / 2
    // If both, the request is above, the lock below.
    const share = waits.has(lane) && hold ? Math.round(height / 2) : height
    c.globalAlpha = pale
    if (waits.has(lane)) hatchBox(c, p, x, top, COLUMN_PX, share)
    if (hold) {
      c.globalAlpha = pale * (hold.isGranted ? 1 : 0.32)
      c.fillStyle = p[modeInk[modeAt(hold.life, t)]]
      c.fillRect(x, top + height - share, COLUMN_PX, share)
    }
    c.globalAlpha = 1
  }
}

interface Arrow {
  readonly x: number
  readonly from: number
  readonly to: number
  readonly isNow: boolean
  readonly row: number
}

function drawMessage(c: Context, p: Palette, picture: MessagePicture, message: Message, arrow: Arrow): void {
  const { x, isNow } = arrow
  // From left to right of the column's middle: time passes on the way.
  const x1 = x - COLUMN_PX * 0.22
  const x2 = x + COLUMN_PX * 0.22
  const [y1, y2] = message.isUp ? [arrow.from, arrow.to] : [arrow.to, arrow.from]
  const way = isNow ? picture.progress : 1
  const tipX = x1 + (x2 - x1) * way
  const tipY = y1 + (y2 - y1) * way
  const isLock = message.life !== null && /grant/.test(message.kind)
  const ink = isNow ? p['text-1'] : isLock && message.life ? p[modeInk[message.life.mode]] : p['text-2']
  c.strokeStyle = c.fillStyle = ink
  c.lineWidth = isNow ? 1.8 : isLock ? 1.5 : 1
  c.setLineDash(isData(message.kind) ? [2, 2.5] : [])
  c.beginPath()
  c.moveTo(x1, y1)
  c.lineTo(tipX, tipY)
  c.stroke()
  c.setLineDash([])
  if (message.arrived === null && !isNow) {
    c.fillText('\u00D7', tipX, tipY)
  } else {
    const angle = Math.atan2(y2 - y1, x2 - x1)
    c.beginPath()
    c.moveTo(tipX, tipY)
    c.lineTo(tipX - 7 * Math.cos(angle - 0.38), tipY - 7 * Math.sin(angle - 0.38))
    c.lineTo(tipX - 7 * Math.cos(angle + 0.38), tipY - 7 * Math.sin(angle + 0.38))
    c.closePath()
    c.fill()
  }
  c.textAlign = 'center'
  c.font = `${isNow ? '600 ' : ''}10px ${p['font-ui']}`
  c.fillStyle = isNow ? p['text-1'] : p['text-2']
  c.fillText(cutText(c, plainText(kindName(message.kind)), COLUMN_PX - 4), x, 12)
  c.font = `10px ${p['font-ui']}`
  c.fillStyle = p['text-3']
  c.fillText(formatNumber(message.sent, picture.decimals), x, arrow.to + SERVER_PX / 2 - 2)
}

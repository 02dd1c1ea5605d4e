/** Where the window was: kept in the data folder, and used only where a display of today shows it. */
import * as z from 'zod'
import { readPlain } from '#electron/files/plain-file.ts'
import { writeWhole } from '#electron/files/whole-file.ts'

const VERSION = 1
const FILE_BYTES = 4096
const LEAST = { width: 960, height: 600 } as const
const USUAL = { width: 1440, height: 900 } as const
/** Of the window's top edge so much must be on a display, so that it can be taken hold of. */
const GRIP = { width: 160, height: 48 } as const

const px = z.number().int().min(-100_000).max(100_000)
const windowState = z.object({
  version: z.literal(VERSION),
  x: px,
  y: px,
  width: px.positive(),
  height: px.positive(),
  isMaximized: z.boolean(),
  isFullScreen: z.boolean(),
  zoom: z.number().min(0.25).max(5),
})
export type WindowState = Omit<z.infer<typeof windowState>, 'version'>

export interface Area {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Where the window opens. Without x and y it stands in the middle of the first display. */
export interface Place {
  readonly bounds: { readonly x?: number; readonly y?: number; readonly width: number; readonly height: number }
  readonly isMaximized: boolean
  readonly isFullScreen: boolean
  readonly zoom: number
}

/** @returns undefined for a file that is not there, of a newer version, or no state at all. */
export function readState(file: string): WindowState | undefined {
  try {
    return windowState.parse(JSON.parse(readPlain(file, FILE_BYTES)))
  } catch {
    return undefined
  }
}

/** A state that cannot be written is not worth a word: the window opens as usual the next time. */
export function writeState(file: string, state: WindowState): void {
  try {
    writeWhole(file, JSON.stringify({ version: VERSION, ...state }))
  } catch {
    // See above.
  }
}

const overlap = (from: number, length: number, from2: number, length2: number): number =>
  Math.min(from + length, from2 + length2) - Math.max(from, from2)

/** @param areas  of the displays that are there, without bars and docks; the first is the main one. */
export function placeOf(state: WindowState | undefined, areas: readonly Area[]): Place {
  const usual = { isMaximized: false, isFullScreen: false, zoom: 1 }
  const main = areas[0] ?? { x: 0, y: 0, ...USUAL }
  const fitting = ({ width, height }: { width: number; height: number }, within: Area) => ({
    width: Math.min(Math.max(width, LEAST.width), Math.max(within.width, LEAST.width)),
    height: Math.min(Math.max(height, LEAST.height), Math.max(within.height, LEAST.height)),
  })
  if (!state) return { bounds: fitting(USUAL, main), ...usual }
  const { x, y, isMaximized, isFullScreen, zoom } = state
  const shown = areas.find(
    (a) =>
      y >= a.y &&
      overlap(x, state.width, a.x, a.width) >= GRIP.width &&
      overlap(y, GRIP.height, a.y, a.height) >= GRIP.height,
  )
  const size = fitting(state, shown ?? main)
  return { bounds: shown ? { x, y, ...size } : size, isMaximized, isFullScreen, zoom }
}

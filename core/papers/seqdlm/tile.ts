/** V-D, Fig. 23: Tile-IO. 96 clients write overlapping tiles of an image, each in one atomic write of many blocks. */
import { DLM_DATATYPE, SEQDLM, type DlmPolicy } from '../../seqdlm/policy.ts'
import type { Extent } from '../../seqdlm/ranges.ts'
import { Cluster } from '../../seqdlm/model/cluster.ts'
import { experimentOf, leastFall, SEED, seedless } from './expectations.ts'
import { TILE_FITS } from './fits.ts'
import { MIB, scaledLimits } from './ior.ts'
import { bandwidth, timed, type WriteRun } from './writers.ts'

const COLUMNS = 8
const ROWS = 12
const PIXELS = 20_480
const OVERLAP = 100
const PIXEL_BYTES = 4
/** Factor by which tiles and their overlap are lower: the same number of rows on a stripe, from 4 stripes on. */
const scaleOf = (stripes: number): number => (stripes <= 4 ? 64 : 256 / stripes)
const STRIPES = [1, 2, 4, 8, 16]
const POLICIES: readonly DlmPolicy[] = [SEQDLM, DLM_DATATYPE]

const LINE_BYTES = (COLUMNS * PIXELS - (COLUMNS - 1) * OVERLAP) * PIXEL_BYTES
const BLOCK_BYTES = PIXELS * PIXEL_BYTES

function tile(writer: number, scale: number): Extent[] {
  const overlapRows = Math.round(OVERLAP / scale)
  const height = PIXELS / scale
  const column = writer % COLUMNS
  const row = Math.floor(writer / COLUMNS)
  const columnStart = column * (PIXELS - OVERLAP) * PIXEL_BYTES
  return Array.from({ length: height }, (_, line) => {
    const start = (row * (height - overlapRows) + line) * LINE_BYTES + columnStart
    return { start, end: start + BLOCK_BYTES }
  })
}

function run(policy: DlmPolicy, stripes: number, seed: number): WriteRun {
  const clients = COLUMNS * ROWS
  const scale = scaleOf(stripes)
  const height = PIXELS / scale
  const limits = scaledLimits(scale)
  const cluster = new Cluster({ policy, clients, servers: stripes, seed, pages: 'cold', limits })
  const file = { base: 0, stripes, stripeSize: MIB }
  const bytes = height * BLOCK_BYTES
  return timed(cluster, file, clients, clients * bytes, (writer, ended) => {
    cluster.wait(cluster.costs.tileBlockUs * height, () =>
      cluster.clients[writer]!.writeAtomic(file, tile(writer, scale), bytes, {}, ended),
    )
  })
}

const keyOf = (policy: DlmPolicy, stripes: number): string => `${policy.name} ${stripes}`

const fig23 = experimentOf<WriteRun>({
  name: 'fig23',
  title: 'Tile-IO: atomic writes of many blocks',
  setup: [
    '8 x 12 tiles of 20,480 x 20,480 pixels of 4 bytes, overlapping by 100 pixels; each of 96 clients writes its tile in one ' +
      'atomic write. SeqDLM locks from the first to the last byte on each stripe, DLM-datatype the exact blocks.',
    'Tiles are 64 times lower up to 4 stripes, 32 times at 8 and 16 times at 16. At full size the gain on 16 stripes is 4.6. ' +
      'Runs on seed 1 alone.',
  ],
  fits: TILE_FITS,
  variants: STRIPES.flatMap((stripes) =>
    POLICIES.map((policy) => seedless('tile', keyOf(policy, stripes), () => run(policy, stripes, SEED))),
  ),
  measure(look) {
    const ratios = STRIPES.map((s) => bandwidth(look(keyOf(SEQDLM, s))) / bandwidth(look(keyOf(DLM_DATATYPE, s))))
    return { '1': ratios[0]!, '16': ratios.at(-1)!, trend: leastFall(ratios) }
  },
  figures(look) {
    const groups = (value: (run: WriteRun, stripes: number) => number) =>
      STRIPES.map((s) => ({ name: String(s), values: POLICIES.map((policy) => value(look(keyOf(policy, s)), s)) }))
    const bars = { kind: 'bars', series: POLICIES.map(({ name }) => name) } as const
    return [
      { ...bars, id: 'fig23', title: 'Bandwidth by stripes', unit: 'GB/s', groups: groups(bandwidth) },
      {
        ...bars,
        id: 'fig23.total',
        title: 'Total time',
        unit: 's',
        groups: groups(({ totalS }, s) => totalS * scaleOf(s)),
      },
    ]
  },
})

export const tileExperiments = [fig23]

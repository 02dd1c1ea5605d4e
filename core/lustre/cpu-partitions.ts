/**
 * `cpu_partition_table`: CPUs of each CPT, printed and parsed.
 *
 * Source: spec/lustre 6.7, measured A21: one line for each CPT, a tab after its number.
 */
import type { ByteText, SkippedLine } from './text.ts'

/** CPUs by CPT number. */
export type CpuPartitions = readonly (readonly number[])[]

/** Divides CPUs over CPTs in equal runs, like a kernel without NUMA nodes; each CPT gets at least one. */
export function evenPartitions(cpts: number, cpus: number): number[][] {
  const each = Math.max(1, Math.floor(cpus / cpts))
  return Array.from({ length: cpts }, (_, cpt) => Array.from({ length: each }, (__, i) => cpt * each + i))
}

/** Formats the value of cpu_partition_table. */
export const formatCpuPartitions = (partitions: CpuPartitions): string =>
  partitions.map((cpus, cpt) => `${cpt}\t: ${cpus.join(' ')}\n`).join('')

/** Formats the value of cpu_partition_distance on a machine with one memory node: every CPT is 10 away from every other. */
export function formatCpuDistances(cpts: number): string {
  const distances = Array.from({ length: cpts }, (_, cpt) => `${cpt}:10`).join(' ')
  return Array.from({ length: cpts }, (_, cpt) => `${cpt}\t: ${distances}\n`).join('')
}

/** Parses the table; a line that is not a CPT is reported and skipped. */
export function parseCpuPartitions(text: ByteText): {
  readonly partitions: CpuPartitions
  readonly skipped: readonly SkippedLine[]
} {
  const partitions: number[][] = []
  const skipped: SkippedLine[] = []
  text.split('\n').forEach((line, i) => {
    if (line === '') return
    const m = /^(\d+)\s*:((?: \d+)*) *$/.exec(line)
    if (m && Number(m[1]) === partitions.length) {
      partitions.push(
        (m[2] as string)
          .split(' ')
          .filter((cpu) => cpu !== '')
          .map(Number),
      )
    } else skipped.push({ line: i + 1, reason: 'not the next CPT' })
  })
  return { partitions, skipped }
}

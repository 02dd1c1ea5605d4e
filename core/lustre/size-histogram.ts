/**
 * The `hist:` part of read_bytes and write_bytes: power-of-two bins named by their upper bound
 * (spec: bin = ceil(log2(size)); labels 1..512, 1K..512K, 1M..512M, 1G).
 */

/** Returns the index of the bin for a size: ceil(log2(bytes)), 0 for 0 and 1 byte. */
export function sizeBin(bytes: number): number {
  if (bytes > 2 ** 32) return 32 + sizeBin(Math.ceil(bytes / 2 ** 32))
  return bytes <= 1 ? 0 : 32 - Math.clz32(bytes - 1)
}

/** Returns the upper bound of a bin in bytes. */
export const binBytes = (bin: number): number => 2 ** bin

/** Returns the label of a bin as Lustre prints it, for example `4K`. */
export function binLabel(bin: number): string {
  const unit = Math.floor(bin / 10)
  return `${2 ** (bin % 10)}${['', 'K', 'M', 'G', 'T', 'P'][unit] ?? ''}`
}

const LABEL = /^(\d+)([KMGTP]?)$/

/** Returns the bin of a printed label; undefined if it is invalid. */
export function parseBinLabel(label: string): number | undefined {
  const m = LABEL.exec(label)
  if (!m) return undefined
  const unit = ['', 'K', 'M', 'G', 'T', 'P'].indexOf(m[2] ?? '')
  return sizeBin(Number(m[1]) * 1024 ** unit)
}

/** Zips as an attacker writes them: every field of every record can be overridden. */
import { crc32, deflateRawSync } from 'node:zlib'
import { SEAL } from '#electron/incidents/zip/zip-out.ts'
import { createHash } from 'node:crypto'

export interface RawMember {
  readonly name: string
  readonly data: Buffer | string
  readonly method?: 0 | 8
  readonly flags?: number
  readonly attributes?: number
  readonly madeBy?: number
  /** Overrides the actual size. */
  readonly bytes?: number
  readonly packed?: number
  readonly crc?: number
  /** Name in the local header, if it differs from the directory's. */
  readonly localName?: string
  readonly localBytes?: number
  readonly extra?: Buffer
  /** Offset in the directory, if it differs from that of the data. */
  readonly at?: number
  /** Stored bytes, if they are not the packed data. */
  readonly stored?: Buffer
}

export interface RawEnd {
  readonly before?: Buffer
  readonly between?: Buffer
  readonly behind?: Buffer
  readonly entries?: number
  readonly directoryAt?: number
  readonly directoryBytes?: number
  readonly comment?: Buffer
  readonly zip64?: Buffer
}

const u16 = (n: number): Buffer => {
  const b = Buffer.alloc(2)
  b.writeUInt16LE(n)
  return b
}
const u32 = (n: number): Buffer => {
  const b = Buffer.alloc(4)
  b.writeUInt32LE(n)
  return b
}

/** Zip in the layout of Sluice, sealed, except for the overrides. */
export function rawZip(members: readonly RawMember[], end: RawEnd = {}): Buffer {
  const body: Buffer[] = [end.before ?? Buffer.alloc(0)]
  const directory: Buffer[] = []
  let at = body[0]!.length
  for (const m of members) {
    const data = Buffer.isBuffer(m.data) ? m.data : Buffer.from(m.data)
    const method = m.method ?? 8
    const lies = m.stored ?? (method === 8 ? deflateRawSync(data) : data)
    const crc = m.crc ?? crc32(data)
    const packed = m.packed ?? lies.length
    const bytes = m.bytes ?? data.length
    const name = Buffer.from(m.name, 'latin1')
    const extra = m.extra ?? Buffer.alloc(0)
    const common = (size: number): Buffer[] => [
      u16(20),
      u16(m.flags ?? 0x800),
      u16(method),
      u16(0),
      u16(0x21),
      u32(crc),
      u32(packed),
      u32(size),
    ]
    const localName = Buffer.from(m.localName ?? m.name, 'latin1')
    const local = Buffer.concat([
      u32(0x04034b50),
      ...common(m.localBytes ?? bytes),
      u16(localName.length),
      u16(0),
      localName,
    ])
    const head = [u32(0x02014b50), u16(m.madeBy ?? 0x033f), ...common(bytes), u16(name.length), u16(extra.length)]
    const rest = [u16(0), u16(0), u16(0), u32(m.attributes ?? 0x81a40000), u32(m.at ?? at)]
    directory.push(...head, ...rest, name, extra)
    body.push(local, lies)
    at += local.length + lies.length
  }
  const between = end.between ?? Buffer.alloc(0)
  const list = Buffer.concat(directory)
  const zip64 = end.zip64 ?? Buffer.alloc(0)
  const n = end.entries ?? members.length
  const listAt = end.directoryAt ?? at + between.length
  const listBytes = end.directoryBytes ?? list.length
  const comment = end.comment
  const last = [u32(0x06054b50), u16(0), u16(0), u16(n), u16(n), u32(listBytes), u32(listAt)]
  const sealed = Buffer.concat([...body, between, list, zip64, ...last, u16(comment?.length ?? SEAL.length + 64)])
  const seal = comment ?? Buffer.from(SEAL + createHash('sha256').update(sealed).digest('hex'))
  return Buffer.concat([sealed, seal, end.behind ?? Buffer.alloc(0)])
}

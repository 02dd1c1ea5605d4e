/** Server versions: `2.17.57_62_gc881f8e_dirty` for example; only the three leading numbers are used. */
export interface LustreVersion {
  readonly major: number
  readonly minor: number
  readonly patch: number
  readonly text: string
}

/** Parses the value of the `version` parameter; undefined if it contains no version. */
export function parseVersion(text: string): LustreVersion | undefined {
  const m = /^(?:lustre: )?((\d+)\.(\d+)\.(\d+)\S*)/.exec(text.trim())
  if (!m) return undefined
  return { major: Number(m[2]), minor: Number(m[3]), patch: Number(m[4]), text: m[1] as string }
}

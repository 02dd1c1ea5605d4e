/**
 * MurmurHash3 x86_32, the hash of channel tokens, with PAIO's seed. Source: A. Appleby's algorithm, public domain;
 * spec/padll 1.4 (seed, check values). Not for secrets: collisions are easy to make, so lookups also compare keys.
 */
import { utf8Bytes } from '../../tbf/utf8.ts'

const C1 = 0xcc9e2d51
const C2 = 0x1b873593

export const SEED = 42

const scrambled = (k: number): number => {
  const mixed = Math.imul(k, C1)
  return Math.imul((mixed << 15) | (mixed >>> 17), C2)
}

/** Hashes the text's UTF-8 bytes, 0..2^32-1. */
export function murmur3(text: string, seed = SEED): number {
  let ascii = true
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f) {
      ascii = false
      break
    }
  }
  const bytes = ascii ? text : utf8Bytes(text)
  const at = (i: number): number => bytes.charCodeAt(i)
  const blockBytes = bytes.length & ~3
  let h = seed
  for (let i = 0; i < blockBytes; i += 4) {
    h ^= scrambled(at(i) | (at(i + 1) << 8) | (at(i + 2) << 16) | (at(i + 3) << 24))
    h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0
  }
  let rest = 0
  for (let i = bytes.length - 1; i >= blockBytes; i--) rest = (rest << 8) | at(i)
  if (blockBytes < bytes.length) h ^= scrambled(rest)
  h ^= bytes.length
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** A short stable name for a longer text; not for secrets. Source: 53-bit mix cyrb53, cut to 40 bits. */
export function shortHash(text: string): string {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    a = Math.imul(a ^ c, 2654435761)
    b = Math.imul(b ^ c, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  const value = (b & 0xff) * 4294967296 + (a >>> 0)
  return value.toString(16).padStart(10, '0')
}

/** Conversion between text and its UTF-8 bytes. */

/** Encodes text as UTF-8, one char code per byte. */
export function utf8Bytes(text: string): string {
  let out = ''
  for (const c of text) {
    const code = c.codePointAt(0) as number
    if (code < 0x80) out += c
    else if (code < 0x800) out += String.fromCharCode(0xc0 | (code >> 6), 0x80 | (code & 63))
    else {
      const lead = code < 0x10000 ? [0xe0 | (code >> 12)] : [0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63)]
      out += String.fromCharCode(...lead, 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
    }
  }
  return out
}

/** Decodes UTF-8; invalid bytes stay one character each. */
export function utf8Text(bytes: string): string {
  try {
    return decodeURIComponent(
      bytes.replace(/[%\x80-\xff]/g, (c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`),
    )
  } catch {
    return bytes
  }
}

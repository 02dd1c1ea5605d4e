/** Other spellings in which programs print a name; names of plain letters have none. */

const PLAIN = /^[A-Za-z0-9._-]*$/

/** `\xHH` for bytes that Lustre does not print; upper case as in Lustre, lower case as in other programs. */
const escaped = (name: string, isUpper: boolean, plain: RegExp): string =>
  name.replace(plain, (c) => {
    const hex = c.charCodeAt(0).toString(16).padStart(2, '0')
    return `\\x${isUpper ? hex.toUpperCase() : hex}`
  })

const UNPRINTABLE = /[\x00-\x1f\x7f-\x9f]/g
const ODD = /[\x00-\x2c\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\xbf\xd7\xf7]/g
const QUOTE_ONLY = /[\x00-\x20"\\\x7f-\xbf\xd7\xf7]/g

const isBytes = (name: string): boolean => [...name].every((c) => c.charCodeAt(0) < 256 && c.length === 1)

/** UTF-8 bytes as a text of one character a byte. */
function bytesOf(name: string): string {
  try {
    return encodeURIComponent(name).replace(/%([0-9A-F]{2})/g, (_, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    )
  } catch {
    return name
  }
}

/** Decodes UTF-8 bytes to text. */
function decoded(name: string): string {
  try {
    return decodeURIComponent([...name].map((c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`).join(''))
  } catch {
    return name
  }
}

const percent = (name: string): string => {
  try {
    return encodeURIComponent(name)
  } catch {
    return name
  }
}

/** Percent-encodes everything except letters and digits. */
const percentAll = (name: string): string =>
  percent(name).replace(/[-_.!~*'()]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)

const json = (name: string): string => JSON.stringify(name).slice(1, -1)
const shell = (name: string): string => name.replaceAll("'", "'\\''")

/**
 * Other printed forms of a name, without the name itself.
 *
 * @param isFew  false: too many unusual names; returns only the forms that this product and Lustre print.
 */
export function printedForms(name: string, isFew: boolean): ReadonlySet<string> {
  if (PLAIN.test(name)) return NONE
  const forms = new Set<string>()
  const bytes = isBytes(name)
  const other = bytes ? decoded(name) : bytesOf(name)
  const byteText = bytes ? name : other
  const printed = escaped(byteText, true, ODD)
  for (const form of [printed, json(name), shell(name), other, json(printed)]) forms.add(form)
  // The same letters in the other Unicode normalization form.
  for (const text of [name, other]) for (const way of ['NFC', 'NFD']) forms.add(text.normalize(way))
  if (!isFew) {
    // Releases differ in the characters that they escape, and 2.12 prints a question mark.
    for (const plain of [QUOTE_ONLY, UNPRINTABLE]) forms.add(escaped(byteText, true, plain))
    forms.add(escaped(byteText, false, ODD))
    if (byteText.length >= 8) forms.add(byteText.replace(UNPRINTABLE, '?'))
    for (const form of [json(other), json(shell(name)), json(json(name)), shell(shell(name))]) forms.add(form)
    forms.add(percent(bytes ? other : name))
    forms.add(percentAll(bytes ? other : name))
    // A name with line breaks may be printed on one line with blanks.
    forms.add(name.replace(/[\r\n\t]+/g, ' '))
  }
  forms.delete(name)
  // Skips forms of a single character or of punctuation only, which would match everywhere.
  for (const form of forms) {
    if (form.length < Math.min(4, name.length) || !/[\p{L}\p{N}]/u.test(form)) forms.delete(form)
  }
  return forms
}
const NONE: ReadonlySet<string> = new Set()

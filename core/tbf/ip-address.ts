/** IP addresses as text: four bytes or sixteen. */

/** `192.168.1.7`: four decimal numbers up to 255. */
export function parseIpv4(text: string): number[] | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((p) => /^[0-9]{1,3}$/.test(p))) return undefined
  const bytes = parts.map(Number)
  return bytes.every((b) => b <= 255) ? bytes : undefined
}

/** `2001:db8::1`, also with an IPv4 address as its last 32 bits; a scope (`%eth0`) is refused. */
export function parseIpv6(text: string): number[] | undefined {
  let groups = text
  const tail: number[] = []
  if (text.includes('.')) {
    const colon = text.lastIndexOf(':')
    const v4 = parseIpv4(text.slice(colon + 1))
    if (!v4 || colon < 0) return undefined
    tail.push(...v4)
    groups = text.slice(0, colon + (text[colon - 1] === ':' ? 1 : 0))
  }
  const halves = groups.split('::')
  if (halves.length > 2) return undefined
  const [head, rest] = halves.map((half) => (half === '' ? [] : half.split(':')))
  if (![...(head ?? []), ...(rest ?? [])].every((g) => /^[0-9a-fA-F]{1,4}$/.test(g))) return undefined
  const bytesOf = (list: readonly string[]): number[] =>
    list.flatMap((g) => [parseInt(g, 16) >> 8, parseInt(g, 16) & 255])
  const first = bytesOf(head ?? [])
  const last = [...bytesOf(rest ?? []), ...tail]
  const missing = 16 - first.length - last.length
  // `::` replaces one or more groups of zeros; without it all eight groups are present.
  if (rest === undefined ? missing !== 0 : missing < 2) return undefined
  return [...first, ...Array<number>(missing).fill(0), ...last]
}

/** True if the first `bits` of both addresses are equal; false for different address families. */
export function isInPrefix(address: readonly number[], prefix: readonly number[], bits: number): boolean {
  if (address.length !== prefix.length) return false
  for (let i = 0; i * 8 < bits; i++) {
    const mask = 0xff & (0xff << Math.max(0, 8 - (bits - i * 8)))
    if ((((address[i] as number) ^ (prefix[i] as number)) & mask) !== 0) return false
  }
  return true
}

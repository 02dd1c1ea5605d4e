/** Names of targets, and names that a server derives from them. */

/**
 * Splits `testfs-OST0000` into `testfs` and `OST0000`; a name without a dash is its own index in a file system without a name.
 */
export function splitTarget(name: string): { readonly fsname: string; readonly index: string } {
  const dash = name.lastIndexOf('-')
  return { fsname: name.slice(0, Math.max(0, dash)), index: name.slice(dash + 1) }
}

/** A target's own connection to the first MDT. */
export function lwpName(target: string): string {
  const { fsname, index } = splitTarget(target)
  return `${fsname}-MDT0000-lwp-${index}`
}

/** An MDT's connection to an OST. */
export const ospName = (ost: string, mdt: string): string => `${ost}-osc-${splitTarget(mdt).index}`

/** Values that the build inserts, see `scripts/build-console.ts`. */
declare module 'lazaret:layers' {
  /** Every layer of the wall, outermost first, with the attacks that it stops. */
  export const layers: readonly { readonly name: string; readonly stops: string }[]
}

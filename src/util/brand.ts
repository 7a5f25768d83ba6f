declare const brand: unique symbol

/** A string that may not be mixed up with another kind of string. Costs nothing at run time. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }

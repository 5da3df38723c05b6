import Foundation

// The parts of Apple's SwiftData that are about SwiftUI and can be named without it. Using one is an error that says what to
// use instead.

/// A property of a view whose value is fetched. There are no views on this system.
@available(
  *, unavailable, message: "@Query is of SwiftUI: fetch with a ModelContext, or follow with a ResultsObserver"
)
@attached(peer)
public macro Query() = #externalMacro(module: "SwiftDataMacros", type: "Query")

/// A property of a view whose value is fetched. There are no views on this system.
@available(
  *, unavailable, message: "@Query is of SwiftUI: fetch with a ModelContext, or follow with a ResultsObserver"
)
@attached(peer)
public macro Query<Element: PersistentModel>(_ descriptor: FetchDescriptor<Element>) =
  #externalMacro(module: "SwiftDataMacros", type: "Query")

/// A property of a view whose value is fetched. There are no views on this system.
@available(
  *, unavailable, message: "@Query is of SwiftUI: fetch with a ModelContext, or follow with a ResultsObserver"
)
@attached(peer)
public macro Query<Element: PersistentModel>(
  filter: Predicate<Element>? = nil, sort descriptors: [SortDescriptor<Element>] = []
) = #externalMacro(module: "SwiftDataMacros", type: "Query")

/// A property of a view whose value is fetched. There are no views on this system.
@available(
  *, unavailable, message: "@Query is of SwiftUI: fetch with a ModelContext, or follow with a ResultsObserver"
)
@attached(peer)
public macro Query<Value: Comparable, Element: PersistentModel>(
  filter: Predicate<Element>? = nil, sort keyPath: KeyPath<Element, Value>, order: SortOrder = .forward
) = #externalMacro(module: "SwiftDataMacros", type: "Query")

/// A property of a view whose value is fetched. There are no views on this system.
@available(
  *, unavailable, message: "@Query is of SwiftUI: fetch with a ModelContext, or follow with a ResultsObserver"
)
@attached(peer)
public macro Query<Value: Comparable, Element: PersistentModel>(
  filter: Predicate<Element>? = nil, sort keyPath: KeyPath<Element, Value?>, order: SortOrder = .forward
) = #externalMacro(module: "SwiftDataMacros", type: "Query")

/// A property of a view whose value is fetched and split into sections. There are no views on this system.
@available(
  *, unavailable,
  message:
    "@Query is of SwiftUI: fetch with a ModelContext, or follow with a ResultsObserver, which has sections"
)
@attached(peer)
public macro Query<Element: PersistentModel, Title: Hashable>(
  filter: Predicate<Element>? = nil, sort descriptors: [SortDescriptor<Element>] = [],
  sectionBy: KeyPath<Element, Title>
) = #externalMacro(module: "SwiftDataMacros", type: "Query")

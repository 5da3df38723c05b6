import Foundation
import Heartwood

/// A block that is called with the results of a fetch in the background.
public typealias NSPersistentStoreAsynchronousFetchResultCompletionBlock = (
  NSAsynchronousFetchResult<any NSFetchRequestResult>
) -> Void

/// A fetch in the background.
open class NSAsynchronousFetchRequest<ResultType: NSFetchRequestResult>: NSPersistentStoreRequest,
  ExecutableRequest
{
  /// The request.
  public final let fetchRequest: NSFetchRequest<ResultType>
  /// Called on the context's queue when the results are there.
  public final let completionBlock: ((NSAsynchronousFetchResult<ResultType>) -> Void)?
  /// How many results the program expects, for the progress.
  open var estimatedResultCount = 0

  /// A fetch in the background.
  public init(
    fetchRequest request: NSFetchRequest<ResultType>,
    completionBlock block: ((NSAsynchronousFetchResult<ResultType>) -> Void)? = nil
  ) {
    fetchRequest = request
    completionBlock = block
    super.init()
  }

  func execute(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let result = NSAsynchronousFetchResult<ResultType>(self, context)
    let progress = Progress(totalUnitCount: Int64(max(estimatedResultCount, 1)))
    result.progress = progress
    let (sentRequest, sentResult) = (SentBlock(self), SentBlock(result))
    context.perform {
      let (request, result) = (sentRequest.block, sentResult.block)
      do {
        guard !progress.isCancelled else { throw CocoaError(.userCancelled) }
        let found = try context.fetch(request.fetchRequest)
        result.finalResult = found
        if request.estimatedResultCount > 0 { progress.totalUnitCount = Int64(found.count) }
      } catch {
        result.operationError = error
      }
      progress.completedUnitCount = progress.totalUnitCount
      request.completionBlock?(result)
    }
    return result
  }
}

/// The result of a fetch in the background.
open class NSAsynchronousFetchResult<ResultType: NSFetchRequestResult>: NSPersistentStoreAsynchronousResult {
  /// The request.
  public final let fetchRequest: NSAsynchronousFetchRequest<ResultType>
  /// The results; nil until they are there.
  public internal(set) final var finalResult: [ResultType]?

  init(_ request: NSAsynchronousFetchRequest<ResultType>, _ context: NSManagedObjectContext) {
    fetchRequest = request
    super.init(context)
  }
}
